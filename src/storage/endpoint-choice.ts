/**
 * Chooses the endpoint of a cluster: one is used until a call to it gets no answer, then the next in turn. So
 * a dead endpoint costs the calls that were in progress there, and no later ones.
 */
export class EndpointChoice {
  readonly #count: number;
  #current: number;

  /** `start` in [0, 1) sets the first endpoint, so that many clients spread over the endpoints. */
  constructor(count: number, start: number) {
    this.#count = count;
    this.#current = Math.floor(start * count);
  }

  get current(): number {
    return this.#current;
  }

  /**
   * Reports that a call to the endpoint `index` got no answer. Returns true if there is another endpoint to
   * use.
   */
  failed(index: number): boolean {
    // The first of many calls that fail together changes the endpoint, the others do not.
    if (index === this.#current) this.#current = (index + 1) % this.#count;
    return this.#count > 1;
  }
}
