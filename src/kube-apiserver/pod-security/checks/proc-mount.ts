import {
  type Check,
  containers,
  containersOf,
  exceptOwnUsers,
  namesWhere,
  type PolicyCheck,
  quoted,
  sorted,
} from '../check.ts';

const isForbidden = (procMount: string | undefined) => procMount !== undefined && procMount !== 'Default';

const check: Check = (pod) => {
  const bad = namesWhere(pod, ({ securityContext }) => isForbidden(securityContext?.procMount));
  if (bad.length === 0) return undefined;
  const types = sorted(
    containersOf(pod)
      .flatMap(({ securityContext }) => securityContext?.procMount ?? [])
      .filter(isForbidden),
  );
  return {
    reason: 'procMount',
    detail: `${containers(bad)} must not set securityContext.procMount to ${quoted(types)}`,
  };
};

export const procMountBaseline: PolicyCheck = {
  id: 'procMount',
  level: 'baseline',
  versions: [
    { since: 0, check },
    { since: 35, check: exceptOwnUsers(check) },
  ],
};

export const procMountRestricted: PolicyCheck = {
  id: 'procMount_restricted',
  level: 'restricted',
  versions: [{ since: 35, check, replaces: [procMountBaseline.id] }],
};
