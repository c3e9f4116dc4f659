/** The Go that bin/setup chose: the machine's own, or a fetched one if the machine has none. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

export function goProgram(root: string): string {
  const own = join(root, 'node_modules/.cache/go/go/bin/go');
  return existsSync(own) ? own : 'go';
}

/** Environment of Go that uses only what is on this machine: bin/setup has fetched the modules. */
export const goOffline = { CGO_ENABLED: '0', GOFLAGS: '-mod=readonly', GOPROXY: 'off', GOTOOLCHAIN: 'local' };
