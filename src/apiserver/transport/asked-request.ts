/** The parts of a request that are read before it is served, for every transport. A Request is one. */
export interface AskedRequest {
  readonly method: string;
  /** The whole URL, or its path and query. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** A request for a resource that the app does not serve. */
export interface DirectRequest extends AskedRequest {
  /** Path of the resource that the request stands for. */
  readonly address: string;
  readonly query: URLSearchParams;
}
