import { type Check, type PolicyCheck, settersOf } from '../check.ts';

const check: Check = (pod) => {
  const setters = settersOf(pod, ({ windowsOptions }) => windowsOptions?.hostProcess === true);
  if (setters === '') return undefined;
  return {
    reason: 'hostProcess',
    detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
  };
};

export const windowsHostProcess: PolicyCheck = {
  id: 'windowsHostProcess',
  level: 'baseline',
  versions: [{ since: 0, check }],
};
