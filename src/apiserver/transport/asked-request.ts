/** The parts of a request that are read before it is served, for every transport. A Request is one. */
export interface AskedRequest {
  readonly method: string;
  /** The whole URL, or its path and query. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}
