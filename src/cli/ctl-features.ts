/** No features, for commands of roles, such as `minik8s status`, that run with the client's parts. */
import type { CtlFeatures } from './verb.ts';

export const noFeatures: CtlFeatures = {
  verbs: {},
  logs: {},
  describers: {},
  rules: async () => ({}),
};
