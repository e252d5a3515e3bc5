// Layers of the house: each room imports only from the layers above it; siblings never import each other.
const layers = [
  ['domain'],
  ['policy', 'store', 'git', 'sandbox'],
  ['workspace', 'watch', 'gateway', 'checkpoints'],
  ['gate', 'agents'],
  ['scheduler', 'report'],
  ['api'],
  ['tui'],
  ['cli'],
];
const rules = [];
layers.forEach((rooms, level) => {
  for (const room of rooms) {
    const allowed = layers.slice(0, level).flat().concat(room);
    rules.push({
      name: `layer-${room}`,
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: { path: '^src/', pathNot: `^src/(${allowed.join('|')})/` },
    });
  }
});
// The scheduler implements api/backend.ts, which is declarations only.
for (const rule of rules) {
  if (rule.name === 'layer-scheduler' || rule.name === 'layer-report') {
    rule.to.pathNot = rule.to.pathNot.replace(')/', ')/|^src/api/backend\\.ts$');
  }
  // cli and tui are started by daemon.ts's peer, never the other way round; `start` launches daemon.ts by path.
}
module.exports = {
  forbidden: [
    ...rules,
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'nobody-imports-the-entrances',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^src/(daemon\\.ts|cli/main\\.ts)$' },
    },
    {
      name: 'no-heavy-room-in-the-thin-client',
      comment: 'cli and tui import api, domain and report eagerly; other rooms only by await import',
      severity: 'error',
      from: { path: '^src/(cli|tui)/' },
      to: {
        path: '^src/(policy|store|git|sandbox|workspace|watch|gateway|checkpoints|gate|agents|scheduler)/',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    },
  ],
  options: { parser: 'swc', tsPreCompilationDeps: true, doNotFollow: { path: 'node_modules' }, tsConfig: { fileName: 'tsconfig.json' } },
};
