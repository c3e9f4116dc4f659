import type { Check, PolicyCheck } from '../check.ts';

const check: Check = ({ spec }) => {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((field) => spec[field]);
  if (shared.length === 0) return undefined;
  return { reason: 'host namespaces', detail: shared.map((field) => `${field}=true`).join(', ') };
};

export const hostNamespaces: PolicyCheck = {
  id: 'hostNamespaces',
  level: 'baseline',
  versions: [{ since: 0, check }],
};
