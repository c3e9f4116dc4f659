import { type Check, exceptOwnUsers, type PolicyCheck, settersOf } from '../check.ts';

const check: Check = (pod) => {
  const setters = settersOf(pod, ({ runAsUser }) => runAsUser === 0);
  return setters === ''
    ? undefined
    : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
};

export const runAsUser: PolicyCheck = {
  id: 'runAsUser',
  level: 'restricted',
  versions: [
    { since: 23, check },
    { since: 35, check: exceptOwnUsers(check) },
  ],
};
