import { type Check, containers, namesWhere, type PolicyCheck } from '../check.ts';

const check: Check = (pod) => {
  const bad = namesWhere(pod, ({ securityContext }) => securityContext?.privileged === true);
  if (bad.length === 0) return undefined;
  return {
    reason: 'privileged',
    detail: `${containers(bad)} must not set securityContext.privileged=true`,
  };
};

export const privileged: PolicyCheck = {
  id: 'privileged',
  level: 'baseline',
  versions: [{ since: 0, check }],
};
