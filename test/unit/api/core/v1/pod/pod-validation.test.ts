import { podResource } from '../../../../../../src/api/core/v1/pod/pod.ts';
import { testCreate } from '../../../../../fixtures/kinds.ts';
import { c0, container, pod, spec } from '../../../pod-fixture.ts';

const term = 'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0]';

/** Returns names with this many characters in total, including the blanks between them. */
function searchesOf(characters: number): string[] {
  const name = (length: number) => 'a'.repeat(length).replaceAll(/a{63}(?=a)/g, `${'a'.repeat(62)}.`);
  const rest = characters - 8 * 251;
  return [...Array(8).fill(name(250)), name(rest)];
}

testCreate(podResource, pod, [
  ['dotted name', { metadata: { name: 'web.example' } }],
  [
    'upper-case name',
    { metadata: { name: 'Web' } },
    'metadata.name: Invalid value: "Web": a lowercase RFC 1123',
  ],
  [
    'label value',
    { metadata: { labels: { a: 'b c' } } },
    'metadata.labels: Invalid value: "b c": a valid label',
  ],
  [
    'lines of /etc/hosts',
    spec({ hostAliases: [{ ip: '192.0.2.7', hostnames: ['db', 'db.example'] }, { ip: '2001:db8::7' }] }),
  ],
  ['the maximum number of search paths', spec({ dnsConfig: { searches: Array(32).fill('a') } })],
  [
    'too many search paths',
    spec({ dnsConfig: { searches: Array(33).fill('a') } }),
    'spec.dnsConfig.searches: Invalid value: ["a","a",',
  ],
  ['search paths of 2048 characters', spec({ dnsConfig: { searches: searchesOf(2048) } })],
  [
    'search paths of 2049 characters',
    spec({ dnsConfig: { searches: searchesOf(2049) } }),
    'spec.dnsConfig.searches: Invalid value: ["aaa',
  ],
  [
    'invalid lines of /etc/hosts',
    spec({
      hostAliases: [
        { ip: '192.0.2.7', hostnames: ['a'] },
        { ip: '192.0.2', hostnames: ['b', 'B'] },
      ],
    }),
    'spec.hostAliases[1].ip: Invalid value: "192.0.2": must be a valid IP address',
    'spec.hostAliases[1].hostnames[1]: Invalid value: "B": a lowercase RFC 1123 subdomain',
  ],
  [
    'sysctls',
    spec({
      securityContext: {
        sysctls: [
          { name: 'net/ipv4/tcp_syncookies', value: '1' },
          { name: 'foo-', value: 'bar' },
          { name: '', value: '' },
          { name: 'net/ipv4/tcp_syncookies', value: '0' },
        ],
      },
    }),
    'spec.securityContext.sysctls[1].name: Invalid value: "foo-": must have at most 253 characters and match regex',
    'spec.securityContext.sysctls[2].name: Required value',
    'spec.securityContext.sysctls[3].name: Duplicate value: "net/ipv4/tcp_syncookies"',
  ],
  [
    'groups and a deadline',
    spec({ activeDeadlineSeconds: 0, securityContext: { fsGroup: -1, supplementalGroups: [0, 2147483648] } }),
    'spec.securityContext.fsGroup: Invalid value: -1: must be between 0 and 2147483647',
    'spec.securityContext.supplementalGroups[1]: Invalid value: 2147483648: must be between',
    'spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive',
  ],
  [
    'shared processes of the pod beside those of the host',
    spec({ hostPID: true, shareProcessNamespace: true }),
    'spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled',
  ],
  [
    'no privilege escalation in a privileged container',
    container({ securityContext: { allowPrivilegeEscalation: false, privileged: true } }),
    `${c0}.securityContext: Invalid value:`,
  ],
  [
    'no privilege escalation with CAP_SYS_ADMIN',
    container({
      securityContext: {
        allowPrivilegeEscalation: false,
        capabilities: { add: ['NET_ADMIN', 'CAP_SYS_ADMIN'] },
      },
    }),
    `${c0}.securityContext: Invalid value:`,
  ],
  [
    'a scheduling gate and a node name',
    spec({ nodeName: 'n', schedulingGates: [{ name: 'a.example/b' }] }),
    'spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared',
  ],
  [
    'names of scheduling gates',
    spec({ schedulingGates: [{ name: 'a.b/c' }, { name: 'a b' }, { name: 'a.b/c' }] }),
    'spec.schedulingGates[1]: Invalid value: "a b": name part',
    'spec.schedulingGates[2]: Duplicate value: "a.b/c"',
  ],
  [
    'an affinity to nodes',
    spec({
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              {
                matchExpressions: [
                  { key: 'disk', operator: 'In' },
                  { key: 'disk', operator: 'Exists', values: ['a'] },
                  { key: 'disk', operator: 'Gt', values: ['1', '2'] },
                  { key: 'a b', operator: 'In', values: ['c d'] },
                ],
                matchFields: [{ key: 'spec.x', operator: 'In', values: ['a'] }],
              },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 0, preference: {} }],
        },
      },
    }),
    `${term}.matchExpressions[0].values: Required value: must be specified when`,
    `${term}.matchExpressions[1].values: Forbidden: may not be specified when`,
    `${term}.matchExpressions[2].values: Required value: must be specified single value when`,
    `${term}.matchExpressions[3].key: Invalid value: "a b"`,
    `${term}.matchExpressions[3].values[0]: Invalid value: "c d"`,
    `${term}.matchFields[0].key: Invalid value: "spec.x": not a valid field selector key`,
    'spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 0: must be',
  ],
  [
    'an invalid node affinity',
    spec({
      affinity: {
        nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [] } },
      },
    }),
    'spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value',
  ],
  [
    'a readiness gate',
    spec({ readinessGates: [{ conditionType: 'a b' }] }),
    'spec.readinessGates[0].conditionType: Invalid value: "a b": name part must consist of',
  ],
  [
    'ephemeral containers',
    spec({ ephemeralContainers: [{ name: 'e', image: 'x' }] }),
    'spec.ephemeralContainers: Forbidden: cannot be set on create',
  ],
  [
    'tolerations',
    spec({
      tolerations: [
        { operator: 'Exists' },
        { key: 'a/b', value: 'c', effect: 'NoExecute', tolerationSeconds: 5 },
      ],
    }),
  ],
  [
    'toleration without a key',
    spec({ tolerations: [{ value: 'x' }] }),
    'spec.tolerations[0].operator: Invalid value: "": operator must be Exists when `key` is empty',
  ],
  [
    'a toleration with tolerationSeconds and another effect than NoExecute',
    spec({ tolerations: [{ key: 'k', effect: 'NoSchedule', tolerationSeconds: 5 }] }),
    'spec.tolerations[0].effect: Invalid value: "NoSchedule": effect must be \'NoExecute\'',
  ],
  [
    'a toleration with Exists and a value',
    spec({ tolerations: [{ key: 'k', operator: 'Exists', value: 'x' }] }),
    'spec.tolerations[0].operator: Invalid value: {"key":"k","operator":"Exists","value":"x"}: value must be empty',
  ],
  [
    'toleration key and value',
    spec({ tolerations: [{ key: 'a b', value: 'c d' }] }),
    'spec.tolerations[0].key: Invalid value: "a b": name part',
    'spec.tolerations[0].operator: Invalid value: "c d": a valid label',
  ],
  [
    'invalid names of other objects',
    spec({ hostname: 'a.b', nodeName: 'N', serviceAccountName: 'S', nodeSelector: { a: 'b c' } }),
    'spec.hostname: Invalid value: "a.b": a lowercase RFC 1123 label',
    'spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain',
    'spec.serviceAccountName: Invalid value: "S": a lowercase RFC 1123 subdomain',
    'spec.nodeSelector: Invalid value: "b c": a valid label',
  ],
  [
    'subdomain',
    spec({ subdomain: 'a.b' }),
    'spec.subdomain: Invalid value: "a.b": a lowercase RFC 1123 label',
  ],
  [
    'name servers and search paths',
    spec({
      dnsPolicy: 'None',
      dnsConfig: {
        nameservers: ['192.0.2.53', '2001:db8::53'],
        searches: ['a.example.', '.'],
        options: [{ name: 'ndots', value: '2' }],
      },
    }),
  ],
  [
    'no name server',
    spec({ dnsPolicy: 'None', dnsConfig: { options: [{ value: '2' }] } }),
    'spec.dnsConfig.nameservers: Required value: must provide at least one DNS nameserver when `dnsPolicy` is None',
    'spec.dnsConfig.options[0]: Required value: must not be empty',
  ],
  [
    'too many name servers, one of them invalid',
    spec({ dnsConfig: { nameservers: ['192.0.2.1', '192.0.2.2', '192.0.2.3', 'x'] } }),
    'spec.dnsConfig.nameservers: Invalid value: ["192.0.2.1","192.0.2.2","192.0.2.3","x"]: must not have more than 3 nameservers',
    'spec.dnsConfig.nameservers[3]: Invalid value: "x": must be a valid IP address',
  ],
  [
    'a search path that is not a name',
    spec({ dnsConfig: { searches: ['a_b'] } }),
    'spec.dnsConfig.searches[0]: Invalid value: "a_b": a lowercase RFC 1123 subdomain',
  ],
]);
