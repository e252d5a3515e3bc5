import { expect, test } from 'vitest';
import { csvCell, reportCsv } from '../../../src/report/csv.ts';
import { type CallRow, reportRows } from '../../../src/report/rows.ts';
import { reportTable, shownUsd } from '../../../src/report/table.ts';

const call: CallRow = {
  run: 'r-1',
  task: 'T1',
  role: 'coder',
  model: 'm',
  day: '2026-11-30',
  requests: 1,
  input: 100,
  cacheRead: 1000,
  cacheWrite: 50,
  output: 20,
  reasoning: 5,
  workMilli: 270_000,
  estimated: 0,
  forfeit: 0,
  usdMicros: 1500,
};
const calls: readonly CallRow[] = [
  call,
  { ...call, role: 'test', requests: 3, usdMicros: undefined, estimated: 20 },
  { ...call, role: 'coder', task: 'T2', day: '2026-12-01', requests: 0, forfeit: 120, usdMicros: undefined },
];

test('adds every class up by role, with a total', () => {
  const report = reportRows(calls, 'role');
  expect(report.rows.map((row) => [row.key, row.requests, row.workTokens, row.usd, row.unpriced])).toEqual([
    ['coder', 1, 540, 0.0015, 1],
    ['test', 3, 270, null, 1],
  ]);
  expect(report.total).toEqual({
    key: 'total',
    requests: 4,
    input: 300,
    cacheWrite: 150,
    cacheRead: 3000,
    output: 60,
    reasoning: 15,
    workTokens: 810,
    usd: 0.0015,
    unpriced: 2,
    estimated: 20,
    forfeit: 120,
  });
  expect(report.notes).toHaveLength(3);
});

test('groups by each property; tasks are told apart by their run', () => {
  const keys = (by: Parameters<typeof reportRows>[1]) =>
    reportRows([...calls, { ...call, run: undefined, task: undefined }], by).rows.map((row) => row.key);
  expect(keys('task')).toEqual(['-', 'r-1/T1', 'r-1/T2']);
  expect(keys('run')).toEqual(['-', 'r-1']);
  expect(keys('day')).toEqual(['2026-11-30', '2026-12-01']);
  expect(keys('model')).toEqual(['m']);
});

test('nothing spent is $0, an unknown price is not', () => {
  expect(shownUsd(reportRows([], 'role').total)).toBe('$0.00');
  expect(shownUsd(reportRows([{ ...call, usdMicros: undefined }], 'role').total)).toBe('?');
  expect(shownUsd(reportRows(calls, 'role').total)).toBe('$0.0015+?');
});

test('the table is aligned, ends in the total and shows no control characters', () => {
  const lines = reportTable(reportRows([...calls, { ...call, role: 'evil\u001b[2J' }], 'role')).split('\n');
  expect(lines[0]).toMatch(/^role +requests +input +cache write +cache read +output/);
  expect(lines.some((line) => line.includes('evil\\x1b[2J'))).toBe(true);
  expect(lines.find((line) => line.startsWith('total'))).toMatch(/ 1,080 .*\$0\.0030\+\?/);
  expect(lines.join('')).not.toContain('\u001b');
});

test('the CSV is quoted, and no cell is a formula', () => {
  const csv = reportCsv(reportRows([{ ...call, model: '=HYPERLINK("http://x","y")' }], 'model'));
  expect(csv.split('\r\n')[0]).toBe(
    'model,requests,input,cacheWrite,cacheRead,output,reasoning,workTokens,usd,unpriced,estimated,forfeit',
  );
  expect(csv.split('\r\n')[1]).toMatch(/^"'=HYPERLINK\(""http:\/\/x"",""y""\)",1,100,50,1000,20,5,270,0.0015,0,0,0$/);
  expect(csvCell('-')).toBe('-');
  expect(csvCell('@cmd')).toBe("'@cmd");
  expect(reportCsv(reportRows([{ ...call, usdMicros: undefined }], 'role'))).toContain(',270,?,1,');
});
