/** Causes of a function that is not called, or not in its current version. Pure. */
import type { JsonObject } from '../../../apimachinery/equality.ts';
import { metadataOf, recordAt, textAt } from '../../../apimachinery/fields.ts';
import { command } from '../../../why/command.ts';
import { inNamespace } from '../../../why/kinds.ts';
import { conditionOf } from '../../../why/pod-facts.ts';
import type { Finding, Mend, Rule, Rules } from '../../../why/rule.ts';
import { causeLine } from '../api/failure.ts';

/** Number of lines of a build's or a program's output that evidence shows. */
const shownLines = 5;
const imageReasons = ['ErrImagePull', 'ImagePullBackOff', 'InvalidImageName', 'ErrImageNeverPull'];

/** The report of a Function while its current version is not called. */
interface Trouble {
  readonly reason: string;
  readonly cause: string;
  /** The last lines of the message. */
  readonly lines: readonly string[];
  readonly severity: Finding['severity'];
}

function troubleOf(fn: JsonObject): Trouble | undefined {
  const ready = conditionOf(fn, 'Ready');
  if (ready?.status !== 'False') return undefined;
  const message = textAt(ready, 'message');
  const lines = message.split('\n').filter((line) => line.trim() !== '');
  const isServed = textAt(fn, 'status', 'activeVersion') !== '';
  return {
    reason: textAt(ready, 'reason'),
    cause: causeLine(message),
    lines: lines.slice(-shownLines),
    severity: isServed ? 'degraded' : 'broken',
  };
}

function update(fn: JsonObject): Mend {
  const { name, namespace } = metadataOf(fn);
  if (textAt(fn, 'spec', 'image') !== '')
    return { command: command`function update ${name}${inNamespace({ namespace })} --image IMAGE` };
  return {
    command: command`function update ${name}${inNamespace({ namespace })} --from FOLDER`,
    about: 'with the corrected program',
  };
}

const functionBuild: Rule = {
  kinds: ['functions.minik8s.io'],
  symptom: 'A function cannot be called; READY is False with the reason FunctionBuildFailed.',
  cause:
    'A library of its requirements.txt or package.json cannot be installed, or the build rejects a file.',
  advice: 'Read the log of the build (ctl function logs NAME --build), and update the program.',
  find(fn) {
    const trouble = troubleOf(fn);
    if (trouble?.reason !== 'FunctionBuildFailed') return undefined;
    const { name, namespace } = metadataOf(fn);
    return {
      severity: trouble.severity,
      says: `its image cannot be built: ${trouble.cause}`,
      evidence: trouble.lines,
      mend: [
        update(fn),
        {
          command: command`function logs ${name}${inNamespace({ namespace })} --build`,
          about: 'shows the whole log of the build',
        },
      ],
    };
  },
};

const functionImage: Rule = {
  kinds: ['functions.minik8s.io'],
  symptom: 'A function cannot be called, and its instances are in ErrImagePull or ImagePullBackOff.',
  cause:
    'The image of its runtime, or the one that spec.image names, is not on the node and cannot be pulled.',
  advice: 'Load the image into the cluster (ctl image load), or name another one.',
  find(fn) {
    const trouble = troubleOf(fn);
    if (!trouble || !imageReasons.includes(trouble.reason)) return undefined;
    const runtime = textAt(fn, 'spec', 'runtime');
    const image = textAt(fn, 'spec', 'image');
    const missing = /image (?:"|\\")?([^\s"\\]+?):?(?=[\s"\\]|$)/.exec(trouble.lines.join(' '))?.[1];
    return {
      severity: trouble.severity,
      says: image
        ? `its image ${image} cannot be pulled`
        : `the image of its runtime ${runtime} cannot be pulled`,
      evidence: [`${trouble.reason}: ${trouble.cause}`],
      mend: image
        ? [
            { command: command`image load ${image}`, about: 'if the engine of this machine has it' },
            update(fn),
          ]
        : [
            {
              command: command`image load ${missing ?? 'IMAGE'}`,
              about: 'on a machine whose engine has it',
            },
            {
              command: command`image load RUNTIME --name ${missing ?? 'IMAGE'}`,
              about: 'with an image that bin/make-runtimes has made of Python or Node',
            },
          ],
    };
  },
};

const functionNotReady: Rule = {
  kinds: ['functions.minik8s.io'],
  symptom: 'A function cannot be called, or an older version is called; READY is False.',
  cause: 'The program ends while it starts, or its first instance has no place on a node.',
  advice: 'Correct the named line of the program, or mend the instance.',
  find(fn, seen) {
    const trouble = troubleOf(fn);
    if (!trouble) return undefined;
    if (trouble.reason === 'Starting')
      return { severity: 'waiting', says: trouble.cause, because: seen.ownedBy(fn) };
    const isProgram = trouble.reason === 'StartFailed' || trouble.reason === 'CrashLoopBackOff';
    return {
      severity: trouble.severity,
      says: isProgram
        ? `its program does not start: ${trouble.cause}`
        : `${trouble.reason}: ${trouble.cause}`,
      evidence: trouble.lines.length > 1 ? trouble.lines : files(fn),
      mend: [update(fn)],
      // The line of the program is nearer to the cause than the exit code of its pod.
      ...(!isProgram && { because: seen.ownedBy(fn) }),
    };
  },
};

function files(fn: JsonObject): readonly string[] {
  const names = Object.keys(recordAt(fn, 'spec', 'files'));
  return names.length > 0 ? [`files: ${names.join(', ')}`] : [];
}

export const functionRules: Rules = {
  'function-build': functionBuild,
  'function-image': functionImage,
  'function-not-ready': functionNotReady,
};
