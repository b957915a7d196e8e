import fs from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { openHome } from "../../src/base/home.js";
import type { News } from "../../src/notices/notice.js";
import { QUEUED_AT_MOST, Queue } from "../../src/notices/queue.js";
import { tempDir } from "../support/home.js";

const news = (id: string, kind: News["kind"] = "match"): News => ({ id, kind, session_id: null, text: id });

function testQueue(task = "a"): Queue {
	const queue = new Queue(openHome(tempDir("home")), task);
	fs.mkdirSync(queue.dir, { recursive: true });
	return queue;
}

const idsOf = (queue: Queue): string[] => queue.waiting().map(({ id }) => id);

test("notices come in the order they were put, though the clock stands still or goes back", () => {
	const queue = testQueue();
	for (const [index, id] of ["c", "a", "b", "d"].entries()) queue.put(news(id), index === 3 ? 500 : 1000);
	expect(idsOf(queue)).toEqual(["c", "a", "b", "d"]);
	expect(queue.waiting()[0]).toEqual({ ...news("c"), task: "a", at: "1970-01-01T00:00:01.000Z" });
});

test("the same news put again takes the place of what is there of it", () => {
	const queue = testQueue();
	queue.put(news("a"), 1);
	queue.put({ ...news("a"), text: "more" }, 2);
	expect(queue.waiting()).toMatchObject([{ id: "a", text: "more" }]);
});

test("one claims what another does not have, and of two ends of a claim the first counts", () => {
	const queue = testQueue();
	queue.put(news("a"), 1);
	queue.put(news("b"), 2);
	const [first, second] = [queue.claim(), queue.claim()];
	expect([first?.notice.id, second?.notice.id, queue.claim()]).toEqual(["a", "b", undefined]);
	first?.acknowledge();
	first?.putBack();
	second?.putBack();
	second?.acknowledge();
	expect(idsOf(queue)).toEqual(["b"]);
});

test("a full queue drops progress, then matches, then the rest, oldest first, and counts through", () => {
	const queue = testQueue();
	queue.put(news("end-1", "completed"), 1);
	queue.put(news("progress-1", "progress"), 2);
	queue.put(news("progress-2", "progress"), 3);
	for (let n = queue.waiting().length; n < QUEUED_AT_MOST; n++) queue.put(news(`end-x${n}`, "completed"), 10 + n);
	queue.put(news("match-1"), 200);
	queue.put(news("match-2"), 201);
	queue.put(news("match-3"), 202);
	queue.put(news("match-4"), 203);
	const ids = idsOf(queue);
	expect(ids).toHaveLength(QUEUED_AT_MOST);
	expect(ids.filter((id) => !id.startsWith("end-x"))).toEqual(["end-1", "match-3", "match-4"]);
	expect(
		queue
			.waiting()
			.slice(-2)
			.map(({ dropped }) => dropped),
	).toEqual([2, 2]); // 3: match-1 and the progress it had pushed out; 4: match-2 likewise
});

test("what another task put, should both have the same directory, is left alone", () => {
	const queue = testQueue();
	queue.put(news("a"), 1);
	const file = path.join(queue.dir, "notice.a");
	fs.writeFileSync(file, fs.readFileSync(file, "utf8").replace('"task":"a"', '"task":"b"'));
	expect(queue.claim()).toBeUndefined();
	expect(fs.existsSync(file)).toBe(true);
});
