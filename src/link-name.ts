/** The name under which the executable was called. */
import { basename } from 'node:path';

/** `kubectl` if the executable was called by a link of this name, which is then the client. */
export const calledAs: 'kubectl' | undefined = basename(process.argv0) === 'kubectl' ? 'kubectl' : undefined;
