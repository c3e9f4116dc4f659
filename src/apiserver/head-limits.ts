/** What the head of a request may hold, besides its length: refused before anything takes it apart, whoever sends it. */
import { newBadRequest, newStatusError } from '../apimachinery/status-error.ts';
import {
  hasTooManyParameters,
  maxListHeaderBytes,
  maxProtocolsBytes,
  maxQueryParameters,
} from '../base/header-limits.ts';
import type { AskedRequest } from './asked-request.ts';

/** Headers that are taken apart, and how long each may be. Accept is refused with 406 where it is read (accept.ts). */
const longest: readonly (readonly [name: string, bytes: number])[] = [
  ['connection', maxListHeaderBytes],
  ['content-type', maxListHeaderBytes],
  ['upgrade', maxListHeaderBytes],
  ['x-stream-protocol-version', maxListHeaderBytes],
  ['sec-websocket-protocol', maxProtocolsBytes],
];

/** Throws 414 for a query of too many parameters, 400 for a header that is too long to be taken apart. */
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
