/** Configuration of the plugin PodSecurity, in upstream's form (PodSecurityConfiguration). */
import * as v from 'valibot';
import { checkDns1123Label, checkDns1123Subdomain } from '../../apimachinery/names.ts';
import type { PodSecurityConfiguration } from '../../kube-apiserver/pod-security/configuration.ts';
import {
  levelProblem,
  levels,
  readVersion,
  versionProblem,
} from '../../kube-apiserver/pod-security/levels.ts';

const group = 'pod-security.admission.config.k8s.io';

/** An empty string means the default, like upstream. */
const level = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => text || 'privileged'),
    v.picklist(levels, levelProblem),
  ),
  'privileged',
);

const version = v.optional(
  v.pipe(
    v.string(),
    v.transform((text) => text || 'latest'),
    v.check((text) => readVersion(text) !== undefined, versionProblem),
    v.transform((text) => readVersion(text) ?? 'latest'),
  ),
  'latest',
);

const defaults = v.strictObject({
  enforce: level,
  'enforce-version': version,
  audit: level,
  'audit-version': version,
  warn: level,
  'warn-version': version,
});

/** Rejects duplicate names and names that are invalid for any object. */
const names = (problemsOf: (name: string) => readonly string[]) =>
  v.optional(
    v.pipe(
      v.array(
        v.pipe(
          v.string(),
          v.rawCheck(({ dataset, addIssue }) => {
            const problems = dataset.typed ? problemsOf(dataset.value) : [];
            if (problems.length > 0) addIssue({ message: problems.join(', ') });
          }),
        ),
      ),
      v.check((all) => new Set(all).size === all.length, 'a name is listed twice'),
    ),
    [],
  );

export const podSecurityShape = v.pipe(
  v.strictObject({
    apiVersion: v.picklist(['v1', 'v1beta1', 'v1alpha1'].map((each) => `${group}/${each}`)),
    kind: v.literal('PodSecurityConfiguration'),
    defaults: v.optional(defaults, {}),
    exemptions: v.optional(
      v.strictObject({
        usernames: names((name) => (name === '' ? ['must not be empty'] : [])),
        namespaces: names(checkDns1123Label),
        runtimeClasses: names(checkDns1123Subdomain),
      }),
      {},
    ),
  }),
  v.transform(({ defaults: levels, exemptions }): PodSecurityConfiguration => {
    const { enforce, audit, warn } = levels;
    return {
      defaults: {
        enforce: { level: enforce, version: levels['enforce-version'] },
        audit: { level: audit, version: levels['audit-version'] },
        warn: { level: warn, version: levels['warn-version'] },
      },
      exemptions,
    };
  }),
);
