/** Turns a failed answer back into the StatusError that the server threw (client-go rest/request.go). */
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

/** Characters of a body that is no Status which its cause keeps. */
const kept = 8192;

/** How much of a body that is no Status is worth repeating. */
const quoted = 200;

/** `what` names the request, such as `GET /api/v1/pods`. */
export function responseError(what: string, code: number, body: string, retryAfter?: number): StatusError {
  const status = parseStatus(body) ?? plainStatus(what, code, body);
  if (retryAfter === undefined || status.details?.retryAfterSeconds) return new StatusError(status);
  return new StatusError({ ...status, details: { ...status.details, retryAfterSeconds: retryAfter } });
}

/** The object of an ERROR event. */
export function watchError(what: string, object: unknown): StatusError {
  return new StatusError(isStatus(object) ? object : plainStatus(what, 500, JSON.stringify(object) ?? ''));
}

function parseStatus(body: string): Status | undefined {
  if (!body.trimStart().startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return isStatus(parsed) ? parsed : undefined;
  } catch {
    // Not JSON after all, such as a proxy's page: the text itself is then the message.
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

/** The reason of the cause that has the body itself, as client-go names it (api/errors NewGenericServerResponse). */
const unexpectedResponse = 'UnexpectedServerResponse';

/** The body of an answer that was no Status, on one line; undefined if the server answered with a Status, or with nothing. */
export const unexpectedBody = ({ status }: StatusError): string | undefined =>
  status.details?.causes?.find(({ reason }) => reason === unexpectedResponse)?.message;
