/** Status names of gRPC, by their number. */
export const statusNames = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
] as const;

export type StatusName = (typeof statusNames)[number];

/** A call that failed; the message is such as `14 UNAVAILABLE: etcdserver: no leader`. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly status: StatusName;
  /** The part of the message after the status. */
  readonly details: string;
  constructor(status: StatusName, details: string, options?: ErrorOptions) {
    super(`${statusNames.indexOf(status)} ${status}: ${details}`, options);
    this.status = status;
    this.details = details;
  }
}

type Headers = Readonly<Record<string, unknown>>;

/** Statuses for HTTP answers without a gRPC status, such as those of a proxy before the server. */
const ofHttp: Readonly<Record<number, StatusName>> = {
  400: 'INTERNAL',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'UNIMPLEMENTED',
  429: 'UNAVAILABLE',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'UNAVAILABLE',
};

/**
 * Returns the result in the last headers of an answer: undefined for success, otherwise the error. The first
 * headers are the last ones when nothing else follows.
 */
export function failureIn(headers: Headers): GrpcError | undefined {
  const given = headers['grpc-status'];
  if (given === '0') return undefined;
  if (given === undefined) return unlessGrpc(headers);
  // Number() reads other texts as numbers, too: an empty status would be the 0 of a success.
  const name = (/^[1-9]\d?$/.test(String(given)) && statusNames[Number(given)]) || 'UNKNOWN';
  return new GrpcError(name, decodeMessage(String(headers['grpc-message'] ?? '')));
}

function unlessGrpc(headers: Headers): GrpcError {
  const http = Number(headers[':status']);
  if (Number.isNaN(http) || http === 200) return new GrpcError('UNKNOWN', 'the answer has no status');
  return new GrpcError(ofHttp[http] ?? 'UNKNOWN', `answered with HTTP status ${http}`);
}

/** Decodes a percent-encoded message, as the protocol requires; an invalid one is returned as it is. */
function decodeMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
