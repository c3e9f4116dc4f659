/** Programs that could not be started: the engine reports this in the place of the program's output. */
import { Writable } from 'node:stream';

export interface ProgramPlace {
  readonly pod: string;
  readonly container: string;
}

/** Start of Docker's message, which Docker writes directly before it reports exit status 126 or 127. */
const engineWords = 'OCI runtime exec failed: ';
/** Maximum number of held characters, which exceeds the length of Docker's message. */
const maxHeld = 4096;

/** Returns one line with the program, the container and the reason; undefined for other text. */
export function startFailure(message: string, { pod, container }: ProgramPlace): string | undefined {
  const at = message.indexOf(engineWords);
  const words = at < 0 ? undefined : message.slice(at + engineWords.length).replaceAll(/\s+/g, ' ');
  const [, program, why] =
    /(?:^|: )exec: ("(?:[^"\\]|\\.)*"): (.*?)(?:: unknown)? ?$/.exec(words ?? '') ?? [];
  if (program === undefined || why === undefined) return undefined;
  const advice = /not found|no such file/.test(why)
    ? 'name a program that the image of the container has'
    : 'name a program that is executable there';
  return `cannot run ${program} in container ${container} of pod ${pod}: ${why}; ${advice}`;
}

/** Passes output on, but holds it back while it may be the engine's message. */
export class HeldOutput extends Writable {
  readonly #to: Writable;
  #held: string | undefined = '';

  constructor(to: Writable) {
    super();
    this.#to = to;
  }

  /**
   * The held output, one character per byte. Empty before the first output, and if the output is not the
   * engine's.
   */
  get held(): string {
    return this.#held ?? '';
  }

  override _write(chunk: Buffer, _encoding: string, done: (error?: Error | null) => void): void {
    const text = this.#held === undefined ? undefined : this.#held + chunk.toString('latin1');
    // Single characters from a terminal must not wait for the next ones, so the first piece decides.
    const isHeld = text?.startsWith(engineWords) && text.length < maxHeld;
    this.#held = isHeld ? text : undefined;
    if (isHeld) done();
    else this.#to.write(text === undefined ? chunk : Buffer.from(text, 'latin1'), done);
  }
}
