/** The client without features, for commands of roles. */
import type { CtlFeatures } from './verb.ts';

export const noFeatures: CtlFeatures = {
  verbs: {},
  logs: {},
  describers: {},
  rules: async () => ({}),
};
