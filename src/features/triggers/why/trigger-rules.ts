/** Causes of a trigger that delivers no events, or not all. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { metadataOf, numberAt, textAt, valueAt } from '../../../apimachinery/fields.ts';
import { command } from '../../../why/command.ts';
import { inNamespace, type ObjectRef } from '../../../why/kinds.ts';
import { conditionOf, lastEvent, oneLine } from '../../../why/pod-facts.ts';
import type { Mend, Rule, Rules } from '../../../why/rule.ts';

function targetOf(trigger: JsonObject): ObjectRef & { readonly title: string } {
  const { namespace } = metadataOf(trigger);
  const name = textAt(trigger, 'spec', 'target', 'name');
  const isWorkflow = textAt(trigger, 'spec', 'target', 'kind') === 'Workflow';
  const key = isWorkflow ? 'workflows.minik8s.io' : 'functions.minik8s.io';
  return { key, namespace, name, title: `${isWorkflow ? 'workflow' : 'function'} ${name}` };
}

const triggerSuspended: Rule = {
  kinds: ['triggers.minik8s.io'],
  symptom: 'A trigger records no events; READY is False with the reason Suspended.',
  cause: 'spec.suspend is true.',
  advice: 'Set it to false. Events of the meantime are not recorded later.',
  find(trigger) {
    if (valueAt(trigger, 'spec', 'suspend') !== true) return undefined;
    const { name, namespace } = metadataOf(trigger);
    return {
      severity: 'waiting',
      says: 'it is suspended: no event is recorded or delivered',
      mend: [
        {
          command: command`patch trigger ${name}${inNamespace({ namespace })} --type=merge -p '{"spec":{"suspend":false}}'`,
        },
      ],
    };
  },
};

const triggerNotReady: Rule = {
  kinds: ['triggers.minik8s.io'],
  symptom: 'A trigger records or delivers nothing; READY is False.',
  cause:
    'Its target, its claim or its ServiceAccount does not exist, its ServiceAccount may not watch the ' +
    'objects, another trigger has its path, or no node watches its folder.',
  advice: 'Create or permit what the message names.',
  find(trigger) {
    const ready = conditionOf(trigger, 'Ready');
    if (ready?.status !== 'False') return undefined;
    const { namespace } = metadataOf(trigger);
    const claim = textAt(trigger, 'spec', 'file', 'claimName');
    return {
      severity: 'broken',
      says: oneLine(textAt(ready, 'message')),
      evidence: [`Ready: ${textAt(ready, 'reason')}`],
      mend: mendOf(trigger, textAt(ready, 'reason')),
      ...(claim && { because: [{ key: 'persistentvolumeclaims', namespace, name: claim }] }),
    };
  },
};

function mendOf(trigger: JsonObject, reason: string): readonly Mend[] {
  const { name, namespace } = metadataOf(trigger);
  const place = inNamespace({ namespace });
  const target = targetOf(trigger);
  const account = textAt(trigger, 'spec', 'serviceAccountName') || 'default';
  const edit = { command: command`edit trigger ${name}${place}`, about: 'correct what the message names' };
  switch (reason) {
    case 'TargetMissing':
      return [
        target.key === 'workflows.minik8s.io'
          ? { command: command`workflow create ${target.name}${place} --definition FILE` }
          : { command: command`function create ${target.name}${place} --from FOLDER` },
        { command: command`edit trigger ${name}${place}`, about: 'correct spec.target' },
      ];
    case 'FunctionMissing':
      return [
        {
          command: command`function create ${textAt(trigger, 'spec', 'result', 'function')}${place} --from FOLDER`,
        },
        edit,
      ];
    case 'AccountMissing':
      return [{ command: command`create serviceaccount ${account}${place}` }];
    case 'NotAllowed':
      return [
        {
          command: command`create rolebinding ${name}${place} --clusterrole=view --serviceaccount=${namespace}:${account}`,
          about: 'if view contains the kind; it allows list and watch',
        },
      ];
    default:
      return [edit];
  }
}

const triggerDeadLetters: Rule = {
  kinds: ['triggers.minik8s.io'],
  symptom: 'A trigger has dead letters.',
  cause: 'Its target answers with an error, or does not answer, at each attempt to deliver an event.',
  advice: 'Mend the target, then deliver the events again: ctl trigger replay NAME --all.',
  find(trigger, seen) {
    const count = numberAt(trigger, 'status', 'deadLetters');
    if (count === 0) return undefined;
    const { name, namespace } = metadataOf(trigger);
    const said = lastEvent(seen.eventsOf(trigger), 'DeadLetter');
    const target = targetOf(trigger);
    return {
      severity: 'degraded',
      says: `${count === 1 ? 'one event' : `${count} events`} could not be delivered to ${target.title}`,
      evidence: said ? [said] : [],
      mend: [
        {
          command: command`trigger replay ${name}${inNamespace({ namespace })} --all`,
          about: 'when the target is mended',
        },
        {
          command: command`delete triggerevents${inNamespace({ namespace })} --field-selector=spec.trigger=${name}`,
          about: 'if the events are not needed any more',
        },
      ],
      because: [target],
    };
  },
};

const triggerBacklog: Rule = {
  kinds: ['triggers.minik8s.io'],
  symptom: 'A trigger records no more events: Backlogged.',
  cause: 'Too many of its events wait, because its target is slower than its source or answers with errors.',
  advice: 'Mend the target, or let it run more at once (maxScale, concurrency).',
  find(trigger) {
    const waits = conditionOf(trigger, 'Backlogged');
    if (waits?.status !== 'True') return undefined;
    const target = targetOf(trigger);
    return {
      severity: 'degraded',
      says: oneLine(textAt(waits, 'message')),
      evidence: [`pending: ${numberAt(trigger, 'status', 'pending')}`],
      mend: [{ advice: `let ${target.title} take more at once, such as by spec.maxScale` }],
      because: [target],
    };
  },
};

export const triggerRules: Rules = {
  'trigger-suspended': triggerSuspended,
  'trigger-not-ready': triggerNotReady,
  'trigger-dead-letters': triggerDeadLetters,
  'trigger-backlog': triggerBacklog,
};
