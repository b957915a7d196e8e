import { expect, it } from "vitest";
import { compact, cutSnapshot } from "../../src/drive/snapshot.js";

it("leaves out groups that say nothing, and keeps what belongs together", () => {
	const raw = `- generic [active] [ref=e1]:
  - list [ref=e3]:
    - listitem [ref=e4]:
      - link "One" [ref=e5] [cursor=pointer]:
        - /url: /one?${"x".repeat(200)}
    - listitem [ref=e6]:
      - text: Two
      - button "Drop" [ref=e7]
    - listitem [ref=e8] [cursor=pointer]:
      - generic [ref=e9]: Three
    - listitem [ref=e10]: Four
  - table [ref=e11]:
    - rowgroup [ref=e12]:
      - row [ref=e13]:
        - cell "Part" [ref=e14]
        - cell [ref=e15]:
          - button "Edit" [ref=e16]`;
	expect(compact(raw)).toBe(`- list [ref=e3]:
  - link "One" [ref=e5]:
    - /url: /one?${"x".repeat(95)}…
  - listitem [ref=e6]:
    - text: Two
    - button "Drop" [ref=e7]
  - listitem [ref=e8]:
    - generic [ref=e9]: Three
  - listitem [ref=e10]: Four
- table [ref=e11]:
  - row [ref=e13]:
    - cell "Part" [ref=e14]
    - button "Edit" [ref=e16]`);
});

it("cuts at a line, and goes on there", () => {
	const text = Array.from({ length: 50 }, (_, at) => `- button "B${at}"`).join("\n");
	const first = cutSnapshot(text, 100);
	const second = cutSnapshot(text, 10_000, first.next);
	expect([`${first.text}\n${second.text}`, second.next]).toEqual([text, undefined]);
	expect(cutSnapshot("x".repeat(300), 100)).toEqual({ text: "x".repeat(100), next: 100 });
});
