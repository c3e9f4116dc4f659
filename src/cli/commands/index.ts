/** The commands of `ctl`: one line each, loaded when they are called. */
import type { Verb, VerbGroup } from '../verb.ts';

export const verbs: Readonly<Record<string, () => Promise<Verb | VerbGroup>>> = {
  get: async () => (await import('./get.ts')).get,
  describe: async () => (await import('./describe.ts')).describe,
  apply: async () => (await import('./apply.ts')).apply,
  create: async () => (await import('./create.ts')).create,
  delete: async () => (await import('./delete.ts')).remove,
  logs: async () => (await import('./logs.ts')).logs,
  scale: async () => (await import('./scale.ts')).scale,
  rollout: async () => (await import('./rollout.ts')).rollout,
  label: async () => (await import('./label.ts')).label,
  annotate: async () => (await import('./label.ts')).annotate,
  patch: async () => (await import('./patch.ts')).patch,
  'api-resources': async () => (await import('./api-resources.ts')).apiResources,
  'api-versions': async () => (await import('./api-resources.ts')).apiVersions,
  config: async () => (await import('./config.ts')).config,
  version: async () => (await import('./version.ts')).version,
};
