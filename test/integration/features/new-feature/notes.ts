/**
 * A made-up feature, Notes, as CONTRIBUTING describes the addition of one: its files by their path below
 * `src/features/notes` and `test/`, and its lines in the lists of the core. A controller counts the words of
 * each Note, and `ctl note` writes one.
 */

export const featureFiles = {
  'api/note-types.ts': `/** The types of Note. */
import { headFields } from '../../../api/own-kind.ts';
import type { DescribedTypes } from '../../../apimachinery/described-types.ts';

export const noteTypes: DescribedTypes = {
  Note: {
    '': 'Note keeps a text.',
    ...headFields('Note'),
    'spec!:NoteSpec': 'The text.',
    'status:NoteStatus': 'The status of the object, written by the cluster.',
  },
  NoteSpec: { 'text!:string': 'The text of the note.' },
  NoteStatus: { 'words:int32': 'Number of words of the text.' },
};
`,
  'api/note.ts': `/** Note: a text whose words are counted. */
import { ageColumn, nameColumn } from '../../../api/columns.ts';
import { headRules } from '../../../api/own-kind.ts';
import { keepMeta } from '../../../apimachinery/meta.ts';
import type { ResourceDefinition } from '../../../apimachinery/resource-definition.ts';
import { noteTypes } from './note-types.ts';
import type { Note } from './types.gen.ts';

export type { Note } from './types.gen.ts';

export const noteResource: ResourceDefinition<Note> = {
  group: 'minik8s.io',
  version: 'v1',
  kind: 'Note',
  plural: 'notes',
  singular: 'note',
  shortNames: [],
  categories: [],
  namespaced: true,
  typeName: 'Note',
  types: noteTypes,
  rules: { Note: headRules('Note'), NoteSpec: {}, NoteStatus: {} },
  strategy: {
    prepareForStatusUpdate: ({ metadata }, old) =>
      keepMeta(metadata, old.metadata, 'labels', 'annotations', 'finalizers', 'ownerReferences'),
    countsGenerations: true,
  },
  hasStatus: true,
  columns: [
    nameColumn,
    {
      name: 'Words',
      type: 'integer',
      description: 'Number of words.',
      cell: ({ status }) => status?.words ?? 0,
    },
    ageColumn,
  ],
  selectableFields: {},
  deleteAnswers: 'status',
};
`,
  'controller/notes.ts': `/** Counts the words of each Note. Keys are Notes. */
import type { AccountRights } from '../../../api/rbac/v1/rule-rows.ts';
import { deepCopy } from '../../../apimachinery/equality.ts';
import { objectKey } from '../../../apimachinery/meta.ts';
import {
  type ControllerContext,
  type ControllerDefinition,
  watched,
} from '../../../controller-runtime/definition.ts';
import { ifPresent } from '../../../controller-runtime/if-present.ts';
import { noteResource } from '../api/note.ts';

export const noteRights: AccountRights = {
  own: [
    ['get list watch', 'minik8s.io', 'notes'],
    ['update', 'minik8s.io', 'notes/status'],
  ],
};

export function noteController({ client, informers }: ControllerContext): ControllerDefinition {
  const notes = informers.informerFor(noteResource).lister;
  return {
    name: 'notes',
    watches: [watched(noteResource, (note) => [objectKey(note)])],
    async reconcile(key) {
      const note = notes.get(key);
      const words = note?.spec.text.split(/\\s+/).filter(Boolean).length;
      if (!note || words === note.status?.words) return undefined;
      await ifPresent(client.resource(noteResource).updateStatus({ ...deepCopy(note), status: { words } }));
      return undefined;
    },
  };
}
`,
  'ctl/note.ts': `/** \`ctl note NAME TEXT\`: writes a Note. */
import { UsageError } from '../../../base/usage-error.ts';
import type { Verb } from '../../../cli/verb.ts';

export const note: Verb = {
  about: 'write a note',
  group: 'Other Commands',
  words: 'NAME TEXT',
  examples: ['ctl note milk "two litres" # write a note'],
  async run({ cluster, flags, io }) {
    const [name, text, ...more] = flags.words;
    if (name === undefined || text === undefined || more.length > 0)
      throw new UsageError('ctl note: say the name and the text: NAME TEXT');
    const { namespace, send } = cluster();
    const head = { apiVersion: 'minik8s.io/v1', kind: 'Note', metadata: { name } };
    await send('POST', \`/apis/minik8s.io/v1/namespaces/\${namespace}/notes\`, { ...head, spec: { text } });
    io.out(\`note/\${name} written\\n\`);
  },
};
`,
  'ctl/describe.ts': `/** \`ctl describe note\`: the text and its number of words. Pure. */
import type { Describer } from '../../../cli/describe/describer.ts';
import { headLines } from '../../../cli/describe/lines.ts';
import { textAt } from '../../../cli/objects/objects.ts';

export const noteDescriber: Describer = {
  lines: (object) => [...headLines(object), \`Text:\\t\${textAt(object, 'spec', 'text')}\`],
};
`,
  'roles.ts': `/** Roles for Notes. */
import { read, write } from '../../api/rbac/v1/rule-rows.ts';
import type { FeatureRoles } from '../../kube-apiserver/rbac/bootstrap/feature-roles.ts';

export const noteRoles: FeatureRoles = {
  view: [[read, 'minik8s.io', 'notes notes/status']],
  edit: [[write, 'minik8s.io', 'notes']],
};
`,
  'notes.ts': `/** Notes: texts whose words are counted. */
import type { Feature } from '../feature.ts';
import { noteController, noteRights } from './controller/notes.ts';
import { noteRoles } from './roles.ts';

export const notes: Feature = {
  name: 'notes',
  roles: noteRoles,
  controllers: [{ account: 'note-controller', rights: noteRights, controller: () => noteController }],
};
`,
} as const;

/** Lines that CONTRIBUTING asks for, by the file of `src/features`; each follows the text before it. */
export const featureLines = {
  'names.ts': [["  'ingress',\n", "  'notes',\n"]],
  'kinds.ts': [
    [
      "import { type FeatureName, featureNames } from './names.ts';\n",
      "import { noteResource } from './notes/api/note.ts';\n",
    ],
    ['  ingress: [],\n', '  notes: [noteResource],\n'],
  ],
  'index.ts': [
    ["import { ingress } from './ingress/ingress.ts';\n", "import { notes } from './notes/notes.ts';\n"],
    ['  ingress,\n', '  notes,\n'],
  ],
  'ctl.ts': [
    [
      "    image: async () => (await import('./images/ctl/image.ts')).image,\n",
      "    note: async () => (await import('./notes/ctl/note.ts')).note,\n",
    ],
    [
      '  describers: {\n',
      "    'Note.minik8s.io': async () => (await import('./notes/ctl/describe.ts')).noteDescriber,\n",
    ],
  ],
} as const;

/** Test of the feature: a controller on a cluster, then the verb and a description on a server. */
export const featureTest = `/** Notes on a cluster, and \`ctl note\` on a server. */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { systemClock } from '../../../../src/base/clock.ts';
import { noteResource } from '../../../../src/features/notes/api/note.ts';
import { ctlFor } from '../../../fixtures/ctl.ts';
import { startHttpsTestServer } from '../../../fixtures/https-api-server.ts';
import { startCluster } from '../../controllers/cluster.ts';

it('counts the words of a note, by the rights of its account alone', async () => {
  const cluster = await startCluster();
  await cluster.until(
    cluster.client.resource(noteResource).create({
      apiVersion: 'minik8s.io/v1',
      kind: 'Note',
      metadata: { name: 'milk', namespace: 'default' },
      spec: { text: 'two litres' },
    }),
  );
  await cluster.eventually('the words are counted', async () => {
    const note = await cluster.get(noteResource, 'milk');
    return note?.status?.words === 2;
  });
  assert.deepEqual([...cluster.refused], []);
  await cluster.stop();
});

it('is written by ctl note as an editor, and described', async () => {
  const server = await startHttpsTestServer({ clock: systemClock });
  const cluster = await startCluster({ server });
  try {
    const ctl = ctlFor(await server.kubeconfigFor('admin', ['system:masters']));
    const bound = await ctl(['create', 'rolebinding', 'ann', '--clusterrole=edit', '--user=ann']);
    assert.equal(bound.status, 0, bound.err);
    const ann = ctlFor(await server.kubeconfigFor('ann', []));
    await cluster.eventually('editors may write notes', async () => {
      const { out } = await ann(['auth', 'can-i', 'create', 'notes']);
      return out === 'yes\\n';
    });
    const wrote = await ann(['note', 'milk', 'two litres']);
    assert.equal(wrote.err, '');
    assert.equal(wrote.out, 'note/milk written\\n');
    await cluster.eventually('the note has two words', async () => {
      const { out } = await ann(['get', 'notes']);
      return /NAME +WORDS +AGE\\nmilk +2 /.test(out);
    });
    assert.match((await ann(['describe', 'note', 'milk'])).out, /Text: +two litres/);
    assert.match((await ann(['explain', 'note.spec.text'])).out, /The text of the note\\./);
    assert.match((await ctl(['--help'])).out, /note +write a note/);
  } finally {
    await cluster.stop();
    await server.stop();
  }
});
`;
