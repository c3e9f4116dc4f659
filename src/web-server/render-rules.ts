/**
 * The locations of a site with rules. Pure. Each location has the rules that its paths may match; variables
 * decide among these by the rest of the request, and name the location that answers.
 */
import { quoted, quotedLiteral } from './quote.ts';
import { type AnswerFacts, mirrorBody, redirectBody, shareBody, statusBody } from './render-answers.ts';
import { conditionVariables } from './render-conditions.ts';
import type { Answer, ForwardAnswer, Rule } from './rule.ts';
import { isPlainPath, type Site } from './site.ts';

/** Location that answers requests that no rule matches. */
const notFoundName = '@minik8s_none';

export function renderRules(site: Site, rules: readonly Rule[], facts: AnswerFacts): string {
  return new RuleRenderer(rules, facts).render(site.notFound);
}

class RuleRenderer {
  readonly #rules: readonly Rule[];
  /** Positions of rules by the type and the path of their match; the path of a pattern is ''. */
  readonly #positions: ReadonlyMap<string, readonly number[]>;
  readonly #facts: AnswerFacts;
  /** Locations that answer, by their body. */
  readonly #answers = new Map<string, string>();
  /** Bodies of mirrors, by the name of their location. */
  readonly #mirrors: string[] = [];

  constructor(rules: readonly Rule[], facts: AnswerFacts) {
    this.#rules = rules;
    const positions = rules.map((_, position) => position);
    this.#positions = Map.groupBy(positions, (position) => placeOf(rules[position]?.path));
    this.#facts = facts;
  }

  render(notFound: string): string {
    const locations = this.#paths()
      .map(({ names, rules }) => {
        const body = this.#chosen(rules);
        return names.map((name) => location(name, body)).join('');
      })
      .join('');
    const answers = [...this.#answers].map(([body, name]) => location(name, body)).join('');
    const mirrors = this.#mirrors.map((body, index) => location(`= ${mirrorPath(index)}`, body)).join('');
    const none = `return 404 ${quotedLiteral(notFound).slice(0, -1)}\\n";`;
    return `    client_max_body_size 0;\n${locations}${answers}${mirrors}${location(notFoundName, none)}`;
  }

  /** Returns the locations by path, each with the rules that a request to it may match. */
  #paths(): readonly { readonly names: readonly string[]; readonly rules: readonly Rule[] }[] {
    const exact = pathsOf(this.#rules, 'Exact');
    const prefixes = pathsOf(this.#rules, 'Prefix');
    prefixes.add('/');
    return [
      ...[...exact].map((path) => ({ names: [`= ${checked(path)}`], rules: this.#rulesAt(path, true) })),
      ...[...prefixes].map((path) => ({
        names: prefixNames(path, exact),
        rules: this.#rulesAt(path, false),
      })),
    ];
  }

  #rulesAt(path: string, isExact: boolean): readonly Rule[] {
    const places = [
      'Regex ',
      ...(isExact ? [`Exact ${path}`] : []),
      ...ancestors(path).map((one) => `Prefix ${one}`),
    ];
    const found = places
      .flatMap((place) => this.#positions.get(place) ?? [])
      .sort((one, other) => one - other)
      .flatMap((position) => this.#rules[position] ?? []);
    // Nothing comes after a rule that matches every request to these paths.
    const last = found.findIndex(
      ({ path: { type }, conditions }) => type !== 'Regex' && conditions.length === 0,
    );
    return last === -1 ? found : found.slice(0, last + 1);
  }

  /** Returns the body of a location that chooses among these rules. */
  #chosen(rules: readonly Rule[]): string {
    const [first] = rules;
    if (!first) return passTo(notFoundName);
    const { variables } = this.#facts;
    const options = rules.map((rule) => ({
      all: conditionVariables(rule, variables),
      target: this.#target(rule.answer),
    }));
    const [only] = options;
    if (only && only.all.length === 0) return passTo(only.target);
    const otherwise = options.at(-1)?.all.length === 0 ? options.at(-1)?.target : undefined;
    const tried = otherwise === undefined ? options : options.slice(0, -1);
    const flags = tried.map(({ all }) => this.#all(all)).join(',');
    const lines = tried.map(({ target }, index) => ({
      pattern: `^,{${index}}1`,
      value: quoted(target),
    }));
    return passTo(variables.map(quoted(flags), lines, quoted(otherwise ?? notFoundName)));
  }

  /** Returns a variable that is '1' if all of these are, and otherwise ''. */
  #all(all: readonly string[]): string {
    const [first = ''] = all;
    if (all.length === 1) return first;
    return this.#facts.variables.map(quoted(all.join('')), [{ pattern: `^1{${all.length}}$`, value: '1' }]);
  }

  /** Returns the name of the location that answers, or a variable with it. */
  #target(answer: Answer): string {
    if (answer.type === 'status') return this.#named(statusBody(answer.status));
    if (answer.type === 'redirect') return this.#named(redirectBody(answer, this.#facts));
    const mirrors = this.#mirrorLines(answer);
    const parts = answer.shares.map((share) => ({
      weight: share.weight,
      value: this.#named([...mirrors, ...shareBody(answer, share, this.#facts)]),
    }));
    const [only] = parts;
    if (!only) throw new Error('a rule of the configuration has no backend');
    return parts.length === 1 ? only.value : this.#facts.variables.split(parts);
  }

  #mirrorLines({ mirrors }: ForwardAnswer): readonly string[] {
    return mirrors
      .filter(({ backends, fraction }) => backends.length > 0 && fraction > 0)
      .map((mirror) => {
        const body = mirrorBody(mirror, this.#facts).join('\n      ');
        const known = this.#mirrors.indexOf(body);
        const index = known === -1 ? this.#mirrors.push(body) - 1 : known;
        return `mirror ${mirrorPath(index)};`;
      });
  }

  #named(lines: readonly string[]): string {
    const body = lines.join('\n      ');
    const name = this.#answers.get(body) ?? `@minik8s_${this.#answers.size}`;
    this.#answers.set(body, name);
    return name;
  }
}

const placeOf = (path: Rule['path'] | undefined) =>
  `${path?.type} ${path?.type === 'Regex' ? '' : path?.path}`;

/** Returns the path and the paths above it, without slashes at their ends, and `/`. */
function ancestors(path: string): readonly string[] {
  const elements = path.split('/').slice(1);
  return ['/', ...elements.map((_, index) => `/${elements.slice(0, index + 1).join('/')}`)].filter(
    (one, index) => index === 0 || (one !== '/' && !one.endsWith('/')),
  );
}

const pathsOf = (rules: readonly Rule[], type: 'Exact' | 'Prefix') =>
  new Set(rules.flatMap(({ path }) => (path.type === type ? [path.path] : [])));

/**
 * Returns the names of the locations of a Prefix. If an Exact has the same path, it answers the path itself.
 */
function prefixNames(path: string, exact: ReadonlySet<string>): readonly string[] {
  if (path === '/') return ['/'];
  const below = `^~ ${checked(`${path}/`)}`;
  return exact.has(path) ? [below] : [`= ${checked(path)}`, below];
}

function checked(path: string): string {
  if (!isPlainPath(path)) throw new Error('a path of the configuration has a character that is not allowed');
  return quotedLiteral(path);
}

/** Returns the path of a mirror. No plain path has a space, so that no rule has the same path. */
const mirrorPath = (index: number) => quotedLiteral(`/ minik8s mirror ${index}`);

/** Passes the unchanged request to a named location: the file never exists. */
const passTo = (target: string) => `try_files /minik8s-none ${target};`;

const location = (name: string, body: string) => `    location ${name} {
      ${body}
    }
`;
