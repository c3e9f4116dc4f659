/** Access of a client to the API server: over HTTPS, or by calls in the same process. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path and query, such as `/api/v1/pods?limit=500`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Aborts the request and the stream of its response at once. */
  readonly signal?: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  header(name: string): string | undefined;
  /** Body of the response; must be read to the end or aborted. */
  readonly body: AsyncIterable<Uint8Array>;
}

export interface Transport {
  /** Server that is used now, HOST:PORT; absent for the same process. */
  readonly host?: string;
  request(request: ApiRequest): Promise<ApiResponse>;
  close(): void;
}
