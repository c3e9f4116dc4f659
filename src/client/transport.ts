/** How a client reaches the API server: over HTTPS, or by calling it in the same process. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, such as `/api/v1/pods?limit=500`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Ends the request, and the stream of its answer, at once. */
  readonly signal?: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** Must be read to the end or aborted. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Transport {
  /** The server that is asked now, HOST:PORT; absent where it is no other process. */
  readonly host?: string;
  request(request: ApiRequest): Promise<ApiResponse>;
  close(): void;
}
