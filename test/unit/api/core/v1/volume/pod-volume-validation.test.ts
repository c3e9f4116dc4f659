import { podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { testCreate } from '../../../../../fixtures/kinds.ts';
import { c0, container, pod, spec } from '../../../pod-fixture.ts';

testCreate(podResource, pod, [
  [
    'mounted volume',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({ volumeMounts: [{ name: 'v', mountPath: 'data' }] }).spec,
      },
    },
  ],
  [
    'a mount without its volume',
    container({ volumeMounts: [{ name: 'v', mountPath: '/d' }] }),
    `${c0}.volumeMounts[0].name: Not found: "v"`,
  ],
  [
    'a mount without a name and a path',
    container({ volumeMounts: [{ name: '', mountPath: '' }] }),
    `${c0}.volumeMounts[0].name: Required value`,
    `${c0}.volumeMounts[0].mountPath: Required value`,
  ],
  [
    'two mounts at one path',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/d' },
            { name: 'v', mountPath: '/d' },
          ],
        }).spec,
      },
    },
    `${c0}.volumeMounts[1].mountPath: Invalid value: "/d": must be unique`,
  ],
  [
    'a mount of a subPath outside of the volume',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/a', subPath: 'x/../..' },
            { name: 'v', mountPath: '/b', subPath: '/x' },
          ],
        }).spec,
      },
    },
    `${c0}.volumeMounts[0].subPath: Invalid value: "x/../..": must not contain '..'`,
    `${c0}.volumeMounts[1].subPath: Invalid value: "/x": must be a relative path`,
  ],
  [
    'a mount with subPathExpr',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/a', subPathExpr: '$(A)/b' },
            { name: 'v', mountPath: '/b', subPathExpr: '../$(A)' },
            { name: 'v', mountPath: '/c', subPathExpr: '/$(A)' },
            { name: 'v', mountPath: '/d', subPathExpr: '$(A)', subPath: 'd' },
          ],
        }).spec,
      },
    },
    `${c0}.volumeMounts[1].subPathExpr: Invalid value: "../$(A)": must not contain '..'`,
    `${c0}.volumeMounts[2].subPathExpr: Invalid value: "/$(A)": must be a relative path`,
    `${c0}.volumeMounts[3].subPathExpr: Invalid value: "$(A)": subPathExpr and subPath are mutually exclusive`,
  ],
  [
    'mounts with propagation, or recursively read-only',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/a', mountPropagation: 'HostToContainer' },
            { name: 'v', mountPath: '/b', mountPropagation: 'Bidirectional' },
            { name: 'v', mountPath: '/c', readOnly: true, recursiveReadOnly: 'Enabled' },
            { name: 'v', mountPath: '/d', recursiveReadOnly: 'IfPossible' },
            {
              name: 'v',
              mountPath: '/e',
              readOnly: true,
              recursiveReadOnly: 'Enabled',
              mountPropagation: 'HostToContainer',
            },
            { name: 'v', mountPath: '/f', recursiveReadOnly: 'Disabled' },
            { name: 'v', mountPath: '/g', readOnly: true, recursiveReadOnly: 'Perhaps' },
          ],
        }).spec,
      },
    },
    `${c0}.volumeMounts[1].mountPropagation: Forbidden: Bidirectional mount propagation is available only to privileged containers`,
    `${c0}.volumeMounts[3].recursiveReadOnly: Forbidden: may only be specified when readOnly is true`,
    `${c0}.volumeMounts[4].recursiveReadOnly: Forbidden: may only be specified when mountPropagation is None or not specified`,
    `${c0}.volumeMounts[6].recursiveReadOnly: Unsupported value: "Perhaps": supported values: "Disabled", "Enabled", "IfPossible"`,
  ],
  [
    'bidirectional propagation of a privileged container',
    {
      spec: {
        volumes: [{ name: 'v' }],
        ...container({
          securityContext: { privileged: true },
          volumeMounts: [{ name: 'v', mountPath: '/b', mountPropagation: 'Bidirectional' }],
        }).spec,
      },
    },
  ],
  [
    'a volume that minik8s does not mount',
    spec({ volumes: [{ name: 'v', rbd: { image: 'i', monitors: [] } }] }),
  ],
  [
    'volume with two sources',
    spec({ volumes: [{ name: 'v', emptyDir: {}, hostPath: { path: '/d' } }] }),
    'spec.volumes[0].hostPath: Forbidden: may not specify more than 1 volume type',
  ],
  [
    'volume names',
    spec({ volumes: [{ name: '' }, { name: 'A' }, { name: 'b' }, { name: 'b' }] }),
    'spec.volumes[0].name: Required value',
    'spec.volumes[1].name: Invalid value: "A": a lowercase RFC 1123 label',
    'spec.volumes[3].name: Duplicate value: "b"',
  ],
  ['host path', spec({ volumes: [{ name: 'v', hostPath: { path: '/d', type: 'Directory' } }] })],
  [
    'host paths',
    spec({
      volumes: [
        { name: 'a', hostPath: { path: '' } },
        { name: 'b', hostPath: { path: '/a/../b', type: 'Folder' } },
      ],
    }),
    'spec.volumes[1].hostPath.type: Unsupported value: "Folder": supported values: "", "BlockDevice"',
    'spec.volumes[0].hostPath.path: Required value',
    'spec.volumes[1].hostPath.path: Invalid value: "/a/../b": must not contain \'..\'',
  ],
  [
    'images, with and without a subPath',
    {
      spec: {
        volumes: [{ name: 'v', image: { reference: 'data:1' } }],
        ...container({
          volumeMounts: [
            { name: 'v', mountPath: '/a' },
            { name: 'v', mountPath: '/b', subPath: 'x' },
          ],
        }).spec,
      },
    },
  ],
  [
    'images without a reference or with an unknown pull policy',
    spec({
      volumes: [
        { name: 'a', image: {} },
        { name: 'b', image: { reference: 'data:1', pullPolicy: 'Sometimes' } },
      ],
    }),
    'spec.volumes[1].image.pullPolicy: Unsupported value: "Sometimes": supported values: "Always", "IfNotPresent", "Never"',
    'spec.volumes[0].image.reference: Required value',
  ],
  [
    'the size limit of an emptyDir',
    spec({ volumes: [{ name: 'v', emptyDir: { sizeLimit: '-1Gi' } }] }),
    'spec.volumes[0].emptyDir.sizeLimit: Invalid value: "-1Gi": must be greater than or equal to 0',
  ],
]);
