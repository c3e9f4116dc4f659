/** Serves the executable of this process to nodes that are to be upgraded. */
import { openAsBlob } from 'node:fs';
import { isSea } from 'node:sea';
import { executableDocument } from '../../api/core/v1/node/upgrade.ts';
import type { Document } from '../../apiserver/options.ts';

/** The executable that runs, even if another one is installed at its path meanwhile. */
const path = '/proc/self/exe';

/** Returns the document by its path; none where the process does not run from the one file. */
export function executableDocuments(): ReadonlyMap<string, Document> {
  if (!isSea()) return new Map();
  const answer: Document = async () => {
    const file = await openAsBlob(path, { type: 'application/octet-stream' });
    const headers = { 'content-type': file.type, 'content-length': String(file.size) };
    return new Response(file.stream(), { headers });
  };
  return new Map([[executableDocument, answer]]);
}
