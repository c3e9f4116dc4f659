/** Defaults for namespaces without labels, and exemptions. */
import type { Policy } from './levels.ts';

export interface PodSecurityConfiguration {
  readonly defaults: Policy;
  readonly exemptions: {
    readonly usernames: readonly string[];
    readonly namespaces: readonly string[];
    readonly runtimeClasses: readonly string[];
  };
}

const everything = { level: 'privileged', version: 'latest' } as const;

export const usualConfiguration: PodSecurityConfiguration = {
  defaults: { enforce: everything, audit: everything, warn: everything },
  exemptions: { usernames: [], namespaces: [], runtimeClasses: [] },
};
