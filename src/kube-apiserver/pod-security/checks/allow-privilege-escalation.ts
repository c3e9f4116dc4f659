import { type Check, containers, exceptWindows, namesWhere, type PolicyCheck } from '../check.ts';

/** Requires the field to be false: a container without it may gain privileges. */
const check: Check = (pod) => {
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false);
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containers(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
};

export const allowPrivilegeEscalation: PolicyCheck = {
  id: 'allowPrivilegeEscalation',
  level: 'restricted',
  versions: [
    { since: 8, check },
    { since: 25, check: exceptWindows(check) },
  ],
};
