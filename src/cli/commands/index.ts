/** The commands of `ctl`: one line each, loaded when they are called. */
import type { Verb, VerbGroup } from '../verb.ts';

export const verbs: Readonly<Record<string, () => Promise<Verb | VerbGroup>>> = {
  apply: async () => (await import('./apply.ts')).apply,
  create: async () => (await import('./create.ts')).create,
  get: async () => (await import('./get.ts')).get,
  delete: async () => (await import('./delete.ts')).remove,
};
