/** What holds where the labels of a namespace say nothing, and for whom nothing holds. */
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
