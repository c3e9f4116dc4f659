/**
 * An Ethernet between virtual machines of one test process. Frames pass through this process and nothing else
 * of the host, and a machine can be cut off from it.
 */
import type { Duplex } from 'node:stream';

/** Number of bytes that wait for a card before frames to it are dropped, as a switch does. */
const maxWaiting = 4 * 2 ** 20;

export class Network {
  readonly #cards = new Map<string, Duplex>();
  readonly #cut = new Set<string>();

  /** Connects the card of a machine, which sends each frame behind its length (32 bits). */
  connect(name: string, card: Duplex): void {
    let rest: Buffer = Buffer.alloc(0);
    this.#cards.set(name, card);
    card.on('error', () => undefined);
    card.on('close', () => this.#cards.get(name) === card && this.#cards.delete(name));
    card.on('data', (chunk: Buffer) => {
      rest = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      while (rest.length >= 4 && rest.length >= 4 + rest.readUInt32BE(0)) {
        const length = 4 + rest.readUInt32BE(0);
        this.#forward(name, rest.subarray(0, length));
        rest = rest.subarray(length);
      }
    });
  }

  /** Drops all frames from and to a machine until `mend`. */
  cut(name: string): void {
    this.#cut.add(name);
  }

  mend(name: string): void {
    this.#cut.delete(name);
  }

  #forward(from: string, frame: Buffer): void {
    if (this.#cut.has(from)) return;
    for (const [name, card] of this.#cards)
      if (name !== from && !this.#cut.has(name) && card.writableLength < maxWaiting) card.write(frame);
  }
}
