/** The commands of `ctl`: one line each, loaded when they are called. */
import type { Verb, VerbGroup } from '../verb.ts';

export const verbs: Readonly<Record<string, () => Promise<Verb | VerbGroup>>> = {
  get: async () => (await import('./get.ts')).get,
  describe: async () => (await import('./describe.ts')).describe,
  explain: async () => (await import('./explain.ts')).explain,
  apply: async () => (await import('./apply.ts')).apply,
  create: async () => (await import('./create.ts')).create,
  edit: async () => (await import('./edit.ts')).edit,
  delete: async () => (await import('./delete.ts')).remove,
  logs: async () => (await import('./logs.ts')).logs,
  exec: async () => (await import('./exec.ts')).exec,
  run: async () => (await import('./run.ts')).run,
  attach: async () => (await import('./attach.ts')).attach,
  'port-forward': async () => (await import('./port-forward.ts')).portForward,
  cp: async () => (await import('./cp.ts')).cp,
  scale: async () => (await import('./scale.ts')).scale,
  wait: async () => (await import('./wait.ts')).wait,
  rollout: async () => (await import('./rollout.ts')).rollout,
  label: async () => (await import('./label.ts')).label,
  annotate: async () => (await import('./label.ts')).annotate,
  patch: async () => (await import('./patch.ts')).patch,
  cordon: async () => (await import('./cordon.ts')).cordon,
  uncordon: async () => (await import('./uncordon.ts')).uncordon,
  drain: async () => (await import('./drain.ts')).drain,
  taint: async () => (await import('./taint.ts')).taint,
  add: async () => (await import('./add.ts')).add,
  auth: async () => (await import('./auth.ts')).auth,
  certificate: async () => (await import('./certificate.ts')).certificate,
  'api-resources': async () => (await import('./api-resources.ts')).apiResources,
  'api-versions': async () => (await import('./api-resources.ts')).apiVersions,
  config: async () => (await import('./config.ts')).config,
  version: async () => (await import('./version.ts')).version,
};

/** Verbs of kubectl 1.32 that are not here. */
export const kubectlOnly: ReadonlySet<string> = new Set([
  'alpha',
  'autoscale',
  'cluster-info',
  'completion',
  'debug',
  'diff',
  'events',
  'expose',
  'kustomize',
  'options',
  'plugin',
  'proxy',
  'replace',
  'set',
  'top',
]);

/** Those of them that cannot work with minik8s: what each needs that is not served. */
export const kubectlCannotEither: Readonly<Record<string, string>> = {
  top: 'metrics',
};
