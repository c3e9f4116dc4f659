/**
 * Decides whether a rule of a role allows a request, as upstream does (pkg/apis/rbac/v1 evaluation_helpers).
 * A rule is compiled once, so that long lists are looked up instead of scanned. Pure.
 */
import type { PolicyRule } from '../../api/rbac/v1/types.gen.ts';
import { withoutStars } from '../../apimachinery/policy-rules.ts';

export interface ResourceQuestion {
  readonly type: 'resource';
  readonly verb: string;
  readonly group: string;
  /** Plural name, with the subresource if there is one. */
  readonly resource: string;
  /** The subresource of any resource: `*` in place of the plural. Undefined without a subresource. */
  readonly ofAny: string | undefined;
  readonly name: string;
}

export interface PathQuestion {
  readonly type: 'path';
  readonly verb: string;
  readonly path: string;
}

export type Question = ResourceQuestion | PathQuestion;

/** Creates a question; `resource` includes the subresource, such as `pods/log`. */
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
  /** The rule as written. */
  readonly rule: PolicyRule;
  readonly #verbs: ReadonlySet<string>;
  readonly #groups: ReadonlySet<string>;
  readonly #resources: ReadonlySet<string>;
  /** Empty means all names. A `*` is a name like any other. */
  readonly #names: ReadonlySet<string>;
  readonly #paths: ReadonlySet<string>;
  /** Prefixes of the paths that end in `*`. */
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
