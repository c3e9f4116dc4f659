/** Failures of requests to S3 as one line: the bucket, what failed, and what to do. */
import { errorMessage } from '../../base/log.ts';
import { BackupError } from '../manifest.ts';
import type { ErrorAnswer } from './answers.ts';
import { type BucketLocation, formatBucketLocation } from './location.ts';

/** A request, for messages. */
export interface Asked {
  /** Permission that the request needs, such as s3:PutObject. */
  readonly action: string;
  readonly location: BucketLocation;
  readonly url: URL;
  readonly region: string;
}

export interface Refusal {
  readonly status: number;
  /** The error in the body, if there is one. */
  readonly error: ErrorAnswer | undefined;
  /** Headers of the answer. */
  readonly regionHeader: string | undefined;
  readonly redirect: string | undefined;
  readonly date: string | undefined;
}

const unknownKey = 'the server does not know the access key: correct the credentials';

/** Advice by codes of S3. */
const advice: Readonly<Record<string, (asked: Asked) => string>> = {
  NoSuchBucket: () => 'there is no such bucket: create it, or correct the location',
  NoSuchKey: () => 'there is no such object; minik8s backup list shows the backups',
  NotFound: () => 'there is no such bucket or object; minik8s backup list shows the backups',
  AccessDenied: ({ action }) => `access is denied: allow ${action} for these credentials`,
  InvalidAccessKeyId: () => unknownKey,
  /** The code of versitygw. */
  XAdminUserNotFound: () => unknownKey,
  XAmzContentSHA256Mismatch: () =>
    'the bytes were changed on their way: look for a proxy between this machine and the server',
  SignatureDoesNotMatch: () =>
    'the signature is not accepted: correct the secret access key, or the region (--backup-s3-region)',
  ExpiredToken: () => 'the session token has expired: get new credentials',
  InvalidToken: () => 'the session token is not accepted: get new credentials',
  PreconditionFailed: () => 'the object was replaced or removed while it was read: run this again',
  InvalidRange: () => 'the object was replaced while it was read: run this again',
  EntityTooLarge: () => 'the server accepts no object of this size',
  NoSuchUpload: () => 'the server has dropped the upload before its end: run this again',
};

/** Codes by status, for answers without a body such as those to HEAD. */
const codeOf: Readonly<Record<number, string>> = {
  403: 'AccessDenied',
  404: 'NotFound',
  412: 'PreconditionFailed',
  416: 'InvalidRange',
};

/** Returns the error for an answer that is none of success. `now` is in milliseconds since the Unix epoch. */
export function refusalError(asked: Asked, refusal: Refusal, now: number): BackupError {
  const { status, error } = refusal;
  const code = error?.code ?? codeOf[status] ?? '';
  const reason =
    regionAdvice(asked, refusal, code) ??
    redirectAdvice(refusal) ??
    (code === 'RequestTimeTooSkewed' ? skewAdvice(refusal.date, now) : advice[code]?.(asked)) ??
    `the server answered ${status}${code && ` (${code})`}: ${
      status >= 500 || status === 429 ? 'try again later' : 'is it an S3 endpoint (--backup-s3-endpoint)?'
    }`;
  return new BackupError(`${formatBucketLocation(asked.location)}: ${reason}`);
}

const regionCodes = [
  'PermanentRedirect',
  'AuthorizationHeaderMalformed',
  'IllegalLocationConstraintException',
];

function regionAdvice(
  { region }: Asked,
  { error, regionHeader, status }: Refusal,
  code: string,
): string | undefined {
  const header =
    regionHeader !== undefined && /^[a-z0-9-]{1,64}$/.test(regionHeader) ? regionHeader : undefined;
  const actual = error?.region ?? header;
  const isRedirect = status >= 300 && status < 400;
  if (!regionCodes.includes(code) && !(isRedirect && actual !== undefined)) return undefined;
  return actual !== undefined && actual !== region
    ? `the bucket is in the region ${actual}, not ${region}: give --backup-s3-region ${actual}`
    : `the region ${region} is not that of the bucket: correct --backup-s3-region`;
}

function redirectAdvice({ status, redirect }: Refusal): string | undefined {
  if (status < 300 || status >= 400) return undefined;
  const host = redirect !== undefined && URL.canParse(redirect) ? new URL(redirect).host : 'another place';
  return `the server redirects to ${host}, which is not followed: give the bucket's own --backup-s3-endpoint`;
}

function skewAdvice(date: string | undefined, now: number): string {
  const server = Date.parse(date ?? '');
  const off = Number.isNaN(server) ? '' : ` (${Math.round(Math.abs(now - server) / 60_000)} minutes)`;
  return `the clocks of this machine and of the server differ too much${off}: set this machine's clock`;
}

const unknownAuthority = ', which no known authority signed: give its authority with --backup-s3-ca-file';
const tlsAdvice: Readonly<Record<string, string>> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  CERT_HAS_EXPIRED: ', which has expired: renew it, or correct the clock of this machine',
  CERT_NOT_YET_VALID: ', which is not valid yet: correct the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID: ', which is not for this host: correct --backup-s3-endpoint',
};

/** Codes of a connection whose other end does not speak TLS. */
const plainCodes: readonly string[] = ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER'];

/** Returns the error for a request without an answer. */
export function networkError({ location, url }: Asked, cause: unknown): BackupError {
  const { code = '' } = cause as NodeJS.ErrnoException;
  const certificate = tlsAdvice[code];
  const noTls = plainCodes.includes(code);
  const reason =
    certificate !== undefined
      ? `${url.host} has a certificate${certificate}`
      : noTls
        ? `${url.host} does not speak TLS: correct --backup-s3-endpoint`
        : `${url.host} cannot be reached (${errorMessage(cause)}): start it, or correct --backup-s3-endpoint`;
  return new BackupError(`${formatBucketLocation(location)}: ${reason}`, { cause });
}

/** Returns whether the same request may succeed a moment later. */
export const isPassing = (cause: unknown): boolean => {
  const { code = '' } = cause as NodeJS.ErrnoException;
  return tlsAdvice[code] === undefined && !plainCodes.includes(code);
};

/** Returns whether an answer asks for another attempt. */
export const asksForRetry = (status: number, code: string | undefined): boolean =>
  status >= 500 || status === 429 || code === 'RequestTimeout' || code === 'SlowDown';
