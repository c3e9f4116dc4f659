/** The status of a route, with an entry for each parent that is a Gateway of this controller. Pure. */
import { deepEqual } from '../../../apimachinery/equality.ts';
import type { Attachment } from '../api/attachments.ts';
import { type BackendFacts, unresolvedRefs } from '../api/backends.ts';
import { controllerName } from '../api/classes.ts';
import type { ParentStatus, Route, RouteStatus } from '../api/kinds.ts';
import type { ListenerProblem } from '../api/listeners.ts';
import { timedConditions, type Verdict, verdicts } from './gateway-plan.ts';

export interface RouteFacts extends BackendFacts {
  /** Results for the parents of the route. */
  readonly attachments: readonly Attachment[];
  /** Reason why the route is not served at all. */
  readonly refused: ListenerProblem | undefined;
  /** Current time in RFC 3339. */
  readonly now: string;
}

/** Returns the new status; undefined if it is as it should be. Entries of other controllers are kept. */
export function planRoute(route: Route, facts: RouteFacts): RouteStatus | undefined {
  const before = route.status?.parents ?? [];
  const others = before.filter((one) => one.controllerName !== controllerName);
  const refs = resolvedRefs(route, facts);
  const own = facts.attachments.map((attachment): ParentStatus => {
    const { parent } = attachment;
    const known = before.find(
      (one) => one.controllerName === controllerName && deepEqual(one.parentRef, parent),
    );
    const times = { generation: route.metadata.generation, now: facts.now };
    return {
      parentRef: parent,
      controllerName,
      conditions: timedConditions([accepted(attachment, facts), refs], known?.conditions, times),
    };
  });
  const next = { parents: [...others, ...own] };
  return deepEqual(next.parents, before) ? undefined : next;
}

function accepted({ refused }: Attachment, facts: RouteFacts): Verdict {
  const problem = refused ?? facts.refused;
  return problem
    ? verdicts.no('Accepted', problem.reason, problem.message)
    : verdicts.yes('Accepted', 'Accepted', 'the route is served');
}

function resolvedRefs(route: Route, facts: RouteFacts): Verdict {
  const problems = unresolvedRefs(route, facts);
  const [first] = problems;
  if (!first) return verdicts.yes('ResolvedRefs', 'ResolvedRefs', 'all backends are resolved');
  const message = [...new Set(problems.map((one) => one.message))].join('; ').slice(0, 1024);
  return verdicts.no('ResolvedRefs', first.reason, message);
}
