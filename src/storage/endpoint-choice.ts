/**
 * Which of a cluster's endpoints is used: one, until a call there gets no answer, then the next in turn. So an
 * endpoint that is dead costs the calls that were under way there, and none after them.
 */
export class EndpointChoice {
  readonly #count: number;
  #current: number;

  /** `start` in [0, 1) says where to begin, so that many clients spread over the endpoints. */
  constructor(count: number, start: number) {
    this.#count = count;
    this.#current = Math.floor(start * count);
  }

  get current(): number {
    return this.#current;
  }

  /** A call at `index` got no answer. True when there is another endpoint to turn to. */
  failed(index: number): boolean {
    // Of many calls that fail there together only the first moves on.
    if (index === this.#current) this.#current = (index + 1) % this.#count;
    return this.#count > 1;
  }
}
