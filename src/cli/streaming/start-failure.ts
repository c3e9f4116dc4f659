/** Programs that could not be started: the engine says so in its own words where the program's output is expected. */
import { Writable } from 'node:stream';

export interface ProgramPlace {
  readonly pod: string;
  readonly container: string;
}

/** How Docker's words begin; it writes them at once, then tells of an exit status of 126 or 127. */
const engineWords = 'OCI runtime exec failed: ';
/** More than it ever writes. */
const mostHeld = 4096;

/** One line that says what could not be run, where and why; undefined when the engine says something else. */
export function startFailure(said: string, { pod, container }: ProgramPlace): string | undefined {
  const at = said.indexOf(engineWords);
  const words = at < 0 ? undefined : said.slice(at + engineWords.length).replaceAll(/\s+/g, ' ');
  const [, program, why] =
    /(?:^|: )exec: ("(?:[^"\\]|\\.)*"): (.*?)(?:: unknown)? ?$/.exec(words ?? '') ?? [];
  if (program === undefined || why === undefined) return undefined;
  const advice = /not found|no such file/.test(why)
    ? 'name a program that the image of the container has'
    : 'name a program that is executable there';
  return `cannot run ${program} in container ${container} of pod ${pod}: ${why}; ${advice}`;
}

/** Passes on what is written, but holds it back while it may be the engine's words. */
export class HeldOutput extends Writable {
  readonly #to: Writable;
  #held: string | undefined = '';

  constructor(to: Writable) {
    super();
    this.#to = to;
  }

  /** What is held back, each byte a character. Empty while nothing was written, and when it is not the engine's. */
  get held(): string {
    return this.#held ?? '';
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const text = this.#held === undefined ? undefined : this.#held + chunk.toString('latin1');
    // An answer such as `O`, typed in a terminal, is not to wait for the next one: the first piece decides.
    const isHeld = text?.startsWith(engineWords) && text.length < mostHeld;
    this.#held = isHeld ? text : undefined;
    if (isHeld) done();
    else this.#to.write(text === undefined ? chunk : Buffer.from(text, 'latin1'), done);
  }
}
