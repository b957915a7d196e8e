/** A program rings: at most once a second, whatever it prints, so that nothing flickers. */
import { bell } from "../state/settings.js";

const PAUSE_MS = 1_000;
const MARK_MS = 500;
let audio: AudioContext | undefined;

export class Bell {
	#last = -PAUSE_MS;
	/** How often it has rung. */
	count = 0;

	ring(host: HTMLElement): void {
		const now = performance.now();
		if (bell.value === "off" || now - this.#last < PAUSE_MS) return;
		this.#last = now;
		this.count++;
		host.dataset.rung = "";
		setTimeout(() => delete host.dataset.rung, MARK_MS);
		if (bell.value === "sound") play();
	}
}

function play(): void {
	audio ??= new AudioContext();
	const tone = new OscillatorNode(audio, { frequency: 660 });
	const volume = new GainNode(audio, { gain: 0.08 });
	volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.25);
	tone.connect(volume).connect(audio.destination);
	tone.start();
	tone.stop(audio.currentTime + 0.25);
}
