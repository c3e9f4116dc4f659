import { type Check, containers, exceptOwnUsers, namesWhere, type PolicyCheck, settersOf } from '../check.ts';

const check: Check = (pod) => {
  const reason = 'runAsNonRoot != true';
  const setters = settersOf(pod, ({ runAsNonRoot }) => runAsNonRoot === false);
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  if (pod.spec.securityContext?.runAsNonRoot) return undefined;
  const silent = namesWhere(pod, ({ securityContext }) => securityContext?.runAsNonRoot === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containers(silent)} must set securityContext.runAsNonRoot=true` };
};

export const runAsNonRoot: PolicyCheck = {
  id: 'runAsNonRoot',
  level: 'restricted',
  versions: [
    { since: 0, check },
    { since: 35, check: exceptOwnUsers(check) },
  ],
};
