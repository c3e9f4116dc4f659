/** What is looked at of a request before it is served, however it came. A Request is one. */
export interface AskedRequest {
  readonly method: string;
  /** Whole, or its path and query. */
  readonly url: string;
  readonly headers: Pick<Headers, 'get' | 'has'>;
  /** Aborts when the client goes away. */
  readonly signal: AbortSignal;
}
