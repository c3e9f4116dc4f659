/** The Go that bin/setup chose: the machine's own, or the one it fetched where there is none. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export function goProgram(root: string): string {
  const own = join(root, 'node_modules/.cache/go/go/bin/go');
  return existsSync(own) ? own : 'go';
}

/** On what is on this machine alone: bin/setup fetches the modules that are asked for like this. */
export const goOffline = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOPROXY: 'off', GOTOOLCHAIN: 'local' };
