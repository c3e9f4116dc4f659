/** Reads what this node serves, from the parts of its agent. */

import type { ServedFacts } from '../checks/served.ts';
import { readListeners } from './ports.ts';
import type { Sources } from './sources.ts';

/** Resolves to undefined outside the agent. */
export async function readServed({ exec, served }: Sources): Promise<ServedFacts | undefined> {
  if (!served) return undefined;
  return { listeners: await readListeners(exec), ...(await served()) };
}
