/**
 * Whether a rule of a role allows a request, as upstream decides it (pkg/apis/rbac/v1 evaluation_helpers). A rule is compiled once, so that
 * long lists are looked up and not walked. Pure.
 */
import type { PolicyRule } from '../../api/rbac/v1/types.gen.ts';
import { withoutTrailing } from '../../base/trailing.ts';

export interface ResourceQuestion {
  readonly type: 'resource';
  readonly verb: string;
  readonly group: string;
  /** With its subresource. */
  readonly resource: string;
  /** `*` in place of what the subresource is of; undefined without a subresource. */
  readonly ofAny: string | undefined;
  readonly name: string;
}

export interface PathQuestion {
  readonly type: 'path';
  readonly verb: string;
  readonly path: string;
}

export type Question = ResourceQuestion | PathQuestion;

/** `resource` with its subresource, such as `pods/log`. */
export function resourceQuestion(
  verb: string,
  group: string,
  resource: string,
  name: string,
): ResourceQuestion {
  const slash = resource.indexOf('/');
  const ofAny = slash < 0 ? undefined : `*${resource.slice(slash)}`;
  return { type: 'resource', verb, group, resource, ofAny, name };
}

export class CompiledRule {
  /** As it is written. */
  readonly rule: PolicyRule;
  readonly #verbs: ReadonlySet<string>;
  readonly #groups: ReadonlySet<string>;
  readonly #resources: ReadonlySet<string>;
  /** Empty: all names. A `*` is a name like any other. */
  readonly #names: ReadonlySet<string>;
  readonly #paths: ReadonlySet<string>;
  /** What paths begin with that end in `*`. */
  readonly #pathPrefixes: readonly string[];

  constructor(rule: PolicyRule) {
    this.rule = rule;
    this.#verbs = new Set(rule.verbs);
    this.#groups = new Set(rule.apiGroups);
    this.#resources = new Set(rule.resources);
    this.#names = new Set(rule.resourceNames);
    this.#paths = new Set(rule.nonResourceURLs);
    this.#pathPrefixes = [...this.#paths].filter((path) => path.endsWith('*')).map(withoutStars);
  }

  allows(question: Question): boolean {
    if (!matches(this.#verbs, question.verb)) return false;
    if (question.type === 'path') {
      const { path } = question;
      return this.#paths.has(path) || this.#pathPrefixes.some((prefix) => path.startsWith(prefix));
    }
    const { group, resource, ofAny, name } = question;
    return (
      matches(this.#groups, group) &&
      (matches(this.#resources, resource) || (ofAny !== undefined && this.#resources.has(ofAny))) &&
      (this.#names.size === 0 || this.#names.has(name))
    );
  }
}

const matches = (values: ReadonlySet<string>, value: string) => values.has('*') || values.has(value);

/** All that are at its end. */
export const withoutStars = (path: string) => withoutTrailing(path, '*');
