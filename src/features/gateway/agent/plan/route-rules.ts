/** The rules of HTTPRoutes as rules of the web server, in the order of their precedence. Pure. */
import type { Match } from '../../../../web-server/match.ts';
import type { Condition, Rule } from '../../../../web-server/rule.ts';
import { withoutSlash } from '../../../ingress/api/plain-path.ts';
import { byAge } from '../../api/classes.ts';
import { bySpecificity } from '../../api/hostnames.ts';
import type { HttpRoute } from '../../api/kinds.ts';
import type { HttpRouteMatch, NamedMatch } from '../../api/route-types.ts';
import { type AnswerFacts, answerOf } from './route-answers.ts';

/** A route on one host of one port. */
export interface HostedRoute {
  readonly route: HttpRoute;
  /** Host name by which the route matches, for its precedence. */
  readonly hostname: string;
  readonly facts: AnswerFacts;
}

interface Ranked {
  readonly rule: Rule;
  readonly hosted: HostedRoute;
  /** Position among the matches of its route. */
  readonly position: number;
}

export function rulesOf(routes: readonly HostedRoute[]): readonly Rule[] {
  return routes
    .flatMap(rankedRules)
    .toSorted(byPrecedence)
    .map(({ rule }) => rule);
}

function rankedRules(hosted: HostedRoute): readonly Ranked[] {
  const { route, facts } = hosted;
  return (route.spec.rules ?? [])
    .flatMap((rule) =>
      (rule.matches?.length ? rule.matches : [{}]).map((match) => {
        const path = pathOf(match);
        return { path, conditions: conditionsOf(match), answer: answerOf(rule, path.path, facts) };
      }),
    )
    .map((rule, position) => ({ rule, hosted, position }));
}

function pathOf({ path = {} }: HttpRouteMatch): Match {
  const { type = 'PathPrefix', value = '/' } = path;
  if (type === 'Exact') return { type: 'Exact', path: value };
  if (type === 'RegularExpression') return { type: 'Regex', path: value };
  return { type: 'Prefix', path: withoutSlash(value) };
}

function conditionsOf({ method, headers = [], queryParams = [] }: HttpRouteMatch): readonly Condition[] {
  return [
    ...(method === undefined ? [] : [{ on: 'method' as const, value: method }]),
    ...firstOfName(headers, (name) => name.toLowerCase()).map((one) => namedCondition('header', one)),
    ...firstOfName(queryParams, (name) => name).map((one) => namedCondition('query', one)),
  ];
}

/** Only the first entry of a name counts. */
const firstOfName = (matches: readonly NamedMatch[], keyOf: (name: string) => string) =>
  matches.filter(
    ({ name }, index) => matches.findIndex((other) => keyOf(other.name) === keyOf(name)) === index,
  );

const namedCondition = (on: 'header' | 'query', { type = 'Exact', name, value }: NamedMatch): Condition => ({
  ...{ on, name },
  value: type === 'RegularExpression' ? { pattern: value } : { text: value },
});

const typeRank = { Exact: 0, Regex: 1, Prefix: 2 } as const;

/**
 * Compares as the Gateway API does: host, path, method, headers, parameters of the query, age, name and
 * position. The API leaves the place of patterns open: here they come between Exact and Prefix.
 */
function byPrecedence(a: Ranked, b: Ranked): number {
  return (
    bySpecificity(a.hosted.hostname, b.hosted.hostname) ||
    typeRank[a.rule.path.type] - typeRank[b.rule.path.type] ||
    b.rule.path.path.length - a.rule.path.path.length ||
    count(b, 'method') - count(a, 'method') ||
    count(b, 'header') - count(a, 'header') ||
    count(b, 'query') - count(a, 'query') ||
    byAge(a.hosted.route, b.hosted.route) ||
    a.position - b.position
  );
}

const count = ({ rule: { conditions } }: Ranked, on: Condition['on']) =>
  conditions.filter((condition) => condition.on === on).length;
