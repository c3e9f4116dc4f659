/**
 * Every failure of the API as one class that carries the wire's `v1.Status`. The server renders it and the
 * client restores it from the response, so both sides use the same guards (isNotFound, isConflict, …).
 * Messages and codes follow k8s.io/apimachinery api/errors.
 */
export type StatusReason =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Expired'
  | 'Gone'
  | 'RequestEntityTooLarge'
  /** A reason of minik8s: upstream does not limit the query. */
  | 'RequestURITooLong'
  | 'UnsupportedMediaType'
  | 'Invalid'
  | 'TooManyRequests'
  | 'InternalError'
  | 'ServerTimeout'
  | 'ServiceUnavailable'
  | 'Timeout'
  /** A reason of minik8s: the server that a request was forwarded to did not respond. */
  | 'BadGateway';

export type CauseReason =
  | 'FieldValueRequired'
  | 'FieldValueInvalid'
  | 'FieldValueDuplicate'
  | 'FieldValueForbidden'
  | 'FieldValueNotSupported'
  | 'FieldValueNotFound'
  | 'FieldValueTooLong'
  | 'FieldValueTooMany'
  | 'FieldValueTypeInvalid';

export interface StatusCause {
  /** Undefined for a cause that has only a message. */
  reason?: string;
  message: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
}

export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: Record<string, never>;
  status: 'Success' | 'Failure';
  message?: string;
  reason?: StatusReason;
  details?: StatusDetails;
  code: number;
}

/** Group and plural resource, for messages such as `deployments.apps "web" not found`. */
export interface GroupResource {
  group: string;
  plural: string;
}

export class StatusError extends Error {
  readonly status: Status;

  constructor(status: Status, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? 'unknown', options);
    this.name = 'StatusError';
    this.status = status;
  }
}

const codes: Record<StatusReason, number> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  RequestURITooLong: 414,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
  BadGateway: 502,
};

/** Maximum length of a message and of a name in a Status: long input is not repeated in full. */
const maxMessageLength = 64 * 1024;
const maxNameLength = 1024;

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most)}…` : text);

export function newStatusError(reason: StatusReason, text: string, details?: StatusDetails): StatusError {
  const message = cut(text, maxMessageLength);
  if (details?.name) details.name = cut(details.name, maxNameLength);
  return new StatusError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details && { details }),
    code: codes[reason],
  });
}

const qualified = (r: GroupResource) => (r.group ? `${r.plural}.${r.group}` : r.plural);

const qualifiedKind = ({ group, kind }: { group: string; kind: string }) =>
  group ? `${kind}.${group}` : kind;

const identify = (r: GroupResource, name: string): StatusDetails => ({
  name,
  ...(r.group && { group: r.group }),
  kind: r.plural,
});

export const newBadRequest = (message: string) => newStatusError('BadRequest', message);

export const newUnauthorized = () => newStatusError('Unauthorized', 'Unauthorized');

export const newNotFound = (r: GroupResource, name: string) =>
  newStatusError('NotFound', `${qualified(r)} "${name}" not found`, identify(r, name));

/**
 * Returns a 404 for an address that the server does not have, in contrast to an object that does not exist.
 * The details have no name; kubectl distinguishes the two by it.
 */
export const newUnknownAddress = (r: GroupResource) =>
  newStatusError('NotFound', 'the server could not find the requested resource', {
    ...(r.group && { group: r.group }),
    kind: r.plural,
  });

export const newAlreadyExists = (r: GroupResource, name: string) =>
  newStatusError('AlreadyExists', `${qualified(r)} "${name}" already exists`, identify(r, name));

export const newConflict = (r: GroupResource, name: string, why: string) =>
  newStatusError(
    'Conflict',
    `Operation cannot be fulfilled on ${qualified(r)} "${name}": ${why}`,
    identify(r, name),
  );

export const newForbidden = (r: GroupResource, name: string, why: string, causes?: StatusCause[]) =>
  newStatusError('Forbidden', `${qualified(r)}${name && ` "${name}"`} is forbidden: ${why}`, {
    ...identify(r, name),
    ...(causes && { causes }),
  });

export const newExpired = (message: string) => newStatusError('Expired', message);

export const newInternalError = (message: string) =>
  newStatusError('InternalError', `Internal error occurred: ${message}`);

/** Maximum number of listed causes: each may repeat a value. */
export const maxCauses = 100;

/**
 * Returns a 422 with a cause for each field, a hundred at most: `Deployment.apps "x" is invalid:
 * spec.selector: Required value`.
 */
export function newInvalid(
  kind: { group: string; kind: string },
  name: string,
  all: StatusCause[],
  found = all.length,
): StatusError {
  const causes = all.slice(0, maxCauses);
  const lines = causes.map((cause) => (cause.field ? `${cause.field}: ${cause.message}` : cause.message));
  // Checks stop when there are enough causes, so the total is unknown.
  if (found > causes.length) lines.push('and more');
  const text = lines.length === 1 ? lines[0] : `[${lines.join(', ')}]`;
  return newStatusError('Invalid', `${qualifiedKind(kind)} "${name}" is invalid: ${text}`, {
    name,
    ...(kind.group && { group: kind.group }),
    kind: kind.kind,
    causes,
  });
}

const reasonOf = (error: unknown) => (error instanceof StatusError ? error.status.reason : undefined);

export const isNotFound = (error: unknown) => reasonOf(error) === 'NotFound';
/**
 * Returns true if an object of that kind was not found, in contrast to another object that the request needs.
 */
export const isNotFoundOf = ({ plural }: { readonly plural: string }, error: unknown) =>
  isNotFound(error) && error instanceof StatusError && error.status.details?.kind === plural;
export const isAlreadyExists = (error: unknown) => reasonOf(error) === 'AlreadyExists';
export const isForbidden = (error: unknown) => reasonOf(error) === 'Forbidden';
export const isTooManyRequests = (error: unknown) => reasonOf(error) === 'TooManyRequests';
export const isConflict = (error: unknown) => reasonOf(error) === 'Conflict';
export const isInvalid = (error: unknown) => reasonOf(error) === 'Invalid';
export const isExpired = (error: unknown) => reasonOf(error) === 'Expired' || reasonOf(error) === 'Gone';

/**
 * Returns true for the cause with which the API server rejects a creation in a namespace that is being
 * deleted.
 */
export const isNamespaceTerminating = (error: unknown) =>
  error instanceof StatusError &&
  error.status.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true;
