/**
 * Limits of a request's head besides its length: checked before anything parses the head, for every sender.
 */
import { newBadRequest, newStatusError } from '../../apimachinery/status-error.ts';
import {
  hasTooManyParameters,
  maxListHeaderBytes,
  maxProtocolsBytes,
  maxQueryParameters,
} from '../../http/header-limits.ts';
import type { AskedRequest } from './asked-request.ts';

/** Maximum length of headers that are parsed. Accept is rejected with 406 where it is read (accept.ts). */
const longest: readonly (readonly [name: string, bytes: number])[] = [
  ['connection', maxListHeaderBytes],
  ['content-type', maxListHeaderBytes],
  ['upgrade', maxListHeaderBytes],
  ['x-stream-protocol-version', maxListHeaderBytes],
  ['sec-websocket-protocol', maxProtocolsBytes],
];

/** Throws 414 for a query with too many parameters, 400 for a header that is too long to be parsed. */
export function checkHead({ url, headers }: Pick<AskedRequest, 'url' | 'headers'>): void {
  if (hasTooManyParameters(url)) {
    throw newStatusError(
      'RequestURITooLong',
      `the query of the request has more than ${maxQueryParameters} parameters: send fewer`,
    );
  }
  for (const [name, bytes] of longest) {
    if ((headers.get(name)?.length ?? 0) > bytes) {
      throw newBadRequest(`the header ${name} is longer than ${bytes} bytes`);
    }
  }
}
