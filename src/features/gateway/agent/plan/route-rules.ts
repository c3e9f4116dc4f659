/** The rules of routes as rules of the web server, in the order of their precedence. Pure. */
import type { Match } from '../../../../web-server/match.ts';
import type { Condition, Rule } from '../../../../web-server/rule.ts';
import { withoutSlash } from '../../../ingress/api/plain-path.ts';
import { byAge } from '../../api/classes.ts';
import { grpcPath } from '../../api/grpc-path.ts';
import { bySpecificity } from '../../api/hostnames.ts';
import { type GrpcRoute, type HttpRoute, isGrpcRoute, type Route } from '../../api/kinds.ts';
import type { GrpcRouteMatch, HttpRouteMatch, NamedMatch } from '../../api/route-types.ts';
import { type AnswerFacts, answerOf, grpcAnswerOf } from './route-answers.ts';

/** A route on one host of one port. */
export interface HostedRoute {
  readonly route: Route;
  /** Host name by which the route matches, for its precedence. */
  readonly hostname: string;
  readonly facts: AnswerFacts;
}

interface Ranked {
  readonly rule: Rule;
  readonly hosted: HostedRoute;
  /** Numbers that rules with one host name are compared by, one after the other; the smaller one wins. */
  readonly order: readonly number[];
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
  const rules = isGrpcRoute(route) ? grpcRules(route, facts) : httpRules(route, facts);
  return rules.map((rule, position) => ({ ...rule, hosted, position }));
}

type OrderedRule = Pick<Ranked, 'rule' | 'order'>;

function httpRules({ spec }: HttpRoute, facts: AnswerFacts): readonly OrderedRule[] {
  return (spec.rules ?? []).flatMap((rule) =>
    (rule.matches?.length ? rule.matches : [{}]).map((match) => {
      const path = pathOf(match);
      const conditions = conditionsOf(match);
      const count = (on: Condition['on']) => conditions.filter((one) => one.on === on).length;
      return {
        rule: { path, conditions, answer: answerOf(rule, path.path, facts) },
        order: [
          afterGrpc,
          ...[typeRank[path.type], -path.path.length],
          ...[-count('method'), -count('header'), -count('query')],
        ],
      };
    }),
  );
}

/** Rules of GRPCRoutes match calls of gRPC alone, and come before the rules for other requests. */
const beforeHttp = 0;
const afterGrpc = 1;
const isGrpcCall: Condition = {
  on: 'header',
  name: 'content-type',
  value: { pattern: 'application/grpc(?:[+;].*)?' },
};

/** The Gateway API compares the lengths of the service and of the method, then the number of headers. */
function grpcRules({ spec }: GrpcRoute, facts: AnswerFacts): readonly OrderedRule[] {
  return (spec.rules ?? []).flatMap((rule) => {
    const answer = grpcAnswerOf(rule, facts);
    return (rule.matches?.length ? rule.matches : [{}]).map((match: GrpcRouteMatch) => {
      const { service = '', method = '' } = match.method ?? {};
      const headers = headerConditions(match.headers);
      return {
        rule: { path: grpcPath(match), conditions: [isGrpcCall, ...headers], answer },
        order: [beforeHttp, -service.length, -method.length, -headers.length],
      };
    });
  });
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
    ...headerConditions(headers),
    ...firstOfName(queryParams, (name) => name).map((one) => namedCondition('query', one)),
  ];
}

const headerConditions = (headers: readonly NamedMatch[] = []): readonly Condition[] =>
  firstOfName(headers, (name) => name.toLowerCase()).map((one) => namedCondition('header', one));

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
    byNumbers(a.order, b.order) ||
    byAge(a.hosted.route, b.hosted.route) ||
    a.position - b.position
  );
}

function byNumbers(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((number, at) => number !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
