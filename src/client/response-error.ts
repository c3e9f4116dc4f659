/** Converts a failed response to the StatusError that the server threw (client-go rest/request.go). */
import { type Status, StatusError, type StatusReason } from '../apimachinery/status-error.ts';

const reasonByCode: Readonly<Record<number, StatusReason>> = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'MethodNotAllowed',
  406: 'NotAcceptable',
  409: 'Conflict',
  410: 'Gone',
  413: 'RequestEntityTooLarge',
  415: 'UnsupportedMediaType',
  422: 'Invalid',
  429: 'TooManyRequests',
  500: 'InternalError',
  503: 'ServiceUnavailable',
  504: 'Timeout',
};

/** Maximum characters of a body other than a Status that the error's cause keeps. */
const kept = 8192;

/** Maximum characters of a body other than a Status that the error's message repeats. */
const quoted = 200;

/** Returns the error of a failed response. `what` names the request, such as `GET /api/v1/pods`. */
export function responseError(what: string, code: number, body: string, retryAfter?: number): StatusError {
  const status = parseStatus(body) ?? plainStatus(what, code, body);
  if (retryAfter === undefined || status.details?.retryAfterSeconds) return new StatusError(status);
  return new StatusError({ ...status, details: { ...status.details, retryAfterSeconds: retryAfter } });
}

/** Returns the error of an ERROR event; `object` is the event's object. */
export function watchError(what: string, object: unknown): StatusError {
  return new StatusError(isStatus(object) ? object : plainStatus(what, 500, JSON.stringify(object) ?? ''));
}

function parseStatus(body: string): Status | undefined {
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    // The body is not JSON after all, such as a proxy's page: the text itself becomes the message.
    return undefined;
  }
}

const isStatus = (value: unknown): value is Status =>
  typeof value === 'object' &&
  value !== null &&
  'kind' in value &&
  value.kind === 'Status' &&
  'code' in value &&
  typeof value.code === 'number';

function plainStatus(what: string, code: number, body: string): Status {
  const text = body.replaceAll(/\s+/g, ' ').trim();
  const shown = text.length > quoted ? `${text.slice(0, quoted)}…` : text;
  const reason = reasonByCode[code];
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message: `${what} answered ${code}${shown && `: ${shown}`}`,
    ...(reason && { reason }),
    ...(text && { details: { causes: [{ reason: unexpectedResponse, message: text.slice(0, kept) }] } }),
    code,
  };
}

/** Reason of the cause that holds the body itself, as in client-go (api/errors NewGenericServerResponse). */
const unexpectedResponse = 'UnexpectedServerResponse';

/**
 * Returns the body of a response that was not a Status, on one line; undefined if the server sent a Status or
 * nothing.
 */
export const unexpectedBody = ({ status }: StatusError): string | undefined =>
  status.details?.causes?.find(({ reason }) => reason === unexpectedResponse)?.message;
