"use strict";
const D = JSON.parse(document.getElementById("data").textContent);
const $ = (s) => document.querySelector(s);
const el = (tag, cls, text) => {
	const e = document.createElement(tag);
	if (cls) e.className = cls;
	if (text !== undefined) e.textContent = text;
	return e;
};
const fmt = (n) => n.toLocaleString("en");
const K = D.kernels, N = K.name.length, SEVERITY = ["", "note", "warning", "error"];
const short = D.short, full = (i) => D.full ? D.full[i] : short[i];

/* ---- theme */
const root = document.documentElement;
$("#theme").onclick = () => {
	const dark = root.dataset.theme ? root.dataset.theme === "dark"
		: matchMedia("(prefers-color-scheme: dark)").matches;
	root.dataset.theme = dark ? "light" : "dark";
	heat.draw();
};

/* ---- totals */
function cards() {
	const s = D.summary, add = (n, what, cls) => {
		const c = el("div", "card " + (n && cls || ""));
		c.append(el("b", "", fmt(n)), el("span", "", what));
		$("#cards").append(c);
	};
	const sources = "sources" in s;
	$("#kernels").hidden = sources;
	if (sources) {
		add(s.sources, "sources");
	} else {
		add(s.kernels, "kernels");
		add(s.distinct, "distinct");
		add(D.targets.length, "targets");
		add(s.flagged, "flagged", "warning");
	}
	add(s.errors, "errors", "error");
	add(s.warnings, "warnings", "warning");
	if (sources) add(s.notes, "notes");
	else add(s.maybes, "maybe", "maybe");
	add(s.accepted, "accepted");
	const v = $("#verdict");
	v.className = "verdict " + ["", "bad", "trouble"][s.verdict];
	v.textContent = ["Nothing found", "Findings", "Incomplete"][s.verdict];
}

/* ---- findings: what one rule says in the same words is one card */
function findings() {
	const bunches = new Map();
	for (const f of D.findings) {
		const key = [f.r, f.s, f.m, f.x, f.c, f.t, f.n < 0 ? f.f : ""].join();
		if (!bunches.has(key)) bunches.set(key, []);
		bunches.get(key).push(f);
	}
	const order = [...bunches.values()].sort((a, b) =>
		(a[0].x - b[0].x) || (a[0].m - b[0].m) || (b[0].s - a[0].s) || (a[0].r - b[0].r));
	const box = $("#findings");
	if (!order.length) box.append(el("p", "soft", "No findings."));
	for (const b of order) box.append(card(b));
	if (order.length && order[0][0].s === 3) box.querySelector("details").open = true;
}
function card(b) {
	const f = b[0], rule = D.rules[f.r], d = el("details", "finding");
	const kind = f.m ? "maybe" : SEVERITY[f.s];
	d.classList.add(kind);
	const sum = el("summary"), kernels = b.filter((g) => g.n >= 0);
	sum.append(el("span", "tag " + kind, f.x ? ["", "allowed", "in the baseline"][f.x] : kind));
	sum.append(el("code", "", rule.id));
	sum.append(el("span", "text", D.strings[f.t]));
	const files = [...new Set(b.map((g) => g.f))];
	if (D.files.length > 1)
		sum.append(files.length > 1 ? el("span", "soft", files.length + " files")
			: el("code", "soft", D.files[f.f].path.split("/").pop()));
	sum.append(el("span", "soft", kernels.length
		? fmt(distinct(kernels)) + (distinct(kernels) === 1 ? " kernel" : " kernels") + " \u00b7 " + targets(b)
		: f.where || (f.l ? "line " + f.l : "")));
	d.append(sum);
	d.addEventListener("toggle", () => { if (d.open && d.childElementCount === 1) d.append(body(b, rule)); });
	return d;
}
const distinct = (b) => new Set(b.map((g) => g.n)).size;
function targets(b) {
	const set = new Set(b.flatMap((g) => g.g));
	return set.size === 1 ? D.targets[[...set][0]] || "1 target" : set.size + " targets";
}
function body(b, rule) {
	const f = b[0], box = el("div", "body"), dl = el("dl");
	const add = (t, node) => {
		const dd = el("dd");
		dd.append(node);
		dl.append(el("dt", "", t), dd);
	};
	const files = [...new Set(b.map((g) => D.files[g.f].path))];
	add(files.length > 1 ? "files" : "file", el("code", "", files.slice(0, 20).join("\n")
		+ (files.length > 20 ? "\nand " + (files.length - 20) + " more" : "")));
	if (f.c) add("cause", D.causes[f.c].text);
	const p = b.find((g) => g.p >= 0);
	if (p) {
		const path = el("div", "path mono");
		for (const step of D.strings[p.p].split(" -> ")) path.append(el("span", "", step));
		add("call path", path);
	}
	if (f.o >= 0) add("proof", D.strings[f.o]);
	add("why", rule.why);
	add("what to do", el("b", "", D.strings[f.d]));
	const a = el("a", "", rule.ref);
	a.href = rule.ref;
	a.rel = "noreferrer";
	add("reference", a);
	if (f.n >= 0) {
		const ul = el("ul", "mono");
		const each = [...new Map(b.map((g) => [g.n, g])).values()];
		for (const g of each.slice(0, 500)) {
			const li = el("li", "", short[g.n] + (g.l ? "  " + D.strings[g.src] + ":" + g.l : ""));
			li.title = full(g.n);
			ul.append(li);
		}
		if (each.length > 500) ul.append(el("li", "soft", "and " + fmt(each.length - 500) + " more: search below"));
		add("kernels", ul);
	}
	box.append(dl);
	return box;
}

/* ---- a list of any length: only what is seen is in the page */
function list(view, height, fill) {
	const space = el("div", "space");
	view.append(space);
	let n = 0, from = -1, to = -1;
	const draw = () => {
		const a = Math.max(0, Math.floor(view.scrollTop / height) - 8);
		const z = Math.min(n, Math.ceil((view.scrollTop + view.clientHeight) / height) + 8);
		if (a === from && z === to) return;
		from = a; to = z;
		const rows = [];
		for (let i = a; i < z; i++) {
			const r = fill(i);
			r.style.top = i * height + "px";
			rows.push(r);
		}
		space.replaceChildren(...rows);
	};
	view.addEventListener("scroll", draw, { passive: true });
	addEventListener("resize", draw);
	return {
		set(count) { n = count; from = to = -1; space.style.height = n * height + "px"; draw(); },
		draw() { from = to = -1; draw(); },
		show(i) {
			if (i * height < view.scrollTop) view.scrollTop = i * height;
			else if ((i + 1) * height > view.scrollTop + view.clientHeight)
				view.scrollTop = (i + 1) * height - view.clientHeight;
			from = to = -1;
			draw();
		},
		page: () => Math.max(1, Math.floor(view.clientHeight / height) - 1),
	};
}

/* ---- heat map: kernels by targets */
const byName = new Map();
for (let i = 0; i < N; i++) {
	let rows = byName.get(K.name[i]);
	if (!rows) byName.set(K.name[i], rows = new Array(D.targets.length).fill(-1));
	const old = rows[K.target[i]];
	if (old < 0 || K.worst[i] > K.worst[old]) rows[K.target[i]] = i;
}
const METRICS = { worst: "findings", vgprs: "VGPRs", scratch: "scratch, B", spills: "spills", lds: "LDS, B" };
let metric = "worst";
const worstOf = (rows) => rows.reduce((m, i) => i < 0 ? m : Math.max(m, K.worst[i] * 16 + (K.flags[i] ? 1 : 0)), -1);
const names = [...byName.keys()].map((n) => [n, worstOf(byName.get(n))]);
function sortNames() {
	const top = (n) => byName.get(n).reduce((m, i) => i < 0 ? m : Math.max(m, K[metric][i]), 0);
	for (const e of names) e[1] = metric === "worst" ? worstOf(byName.get(e[0])) : top(e[0]);
	names.sort((a, b) => b[1] - a[1] || (short[a[0]] < short[b[0]] ? -1 : 1));
}
const columns = "minmax(260px, 4.5fr) repeat(" + D.targets.length + ", minmax(34px, 1fr))";
let largest = 1;
function color(v) {
	if (metric === "worst") return ["var(--none)", "var(--note)", "var(--warning)", "var(--error)"][v];
	if (!v) return "var(--none)";
	const share = Math.round(18 + 82 * Math.sqrt(v / largest));
	return "color-mix(in srgb, var(--accent) " + share + "%, var(--panel))";
}
const heat = list($("#heat .view"), 22, (i) => {
	const n = names[i][0], rows = byName.get(n), r = el("div", "row");
	r.style.gridTemplateColumns = columns;
	const name = el("span", "mono", short[n]);
	name.title = full(n);
	r.append(name);
	rows.forEach((k, t) => {
		const c = el("span", "cell" + (k < 0 ? " absent" : ""));
		if (k >= 0) {
			c.style.background = color(K[metric][k]);
			c.title = D.targets[t] + ": " + (metric === "worst"
				? SEVERITY[K.worst[k]] || "nothing found" : fmt(K[metric][k]) + " " + METRICS[metric]);
		}
		r.append(c);
	});
	r.onclick = () => detail(n);
	return r;
});
function drawHeat() {
	largest = metric === "worst" ? 3 : Math.max(1, K[metric].reduce((a, b) => Math.max(a, b), 0));
	sortNames();
	const legend = $("#legend");
	legend.replaceChildren();
	const add = (c, t) => {
		const s = el("span"), i = el("i");
		i.style.background = c;
		s.append(i, t);
		legend.append(s);
	};
	if (metric === "worst") {
		add("var(--error)", "error"); add("var(--warning)", "warning");
		add("var(--note)", "note"); add("var(--none)", "nothing found");
	} else {
		add(color(0), "0"); add(color(largest / 4), fmt(Math.round(largest / 4)));
		add(color(largest), fmt(largest) + " " + METRICS[metric].replace(/.*, /, ""));
	}
	heat.set(names.length);
}
function heatHead() {
	const head = $("#heat .head");
	head.style.gridTemplateColumns = columns;
	head.append(el("span", "", "kernel"));
	for (const t of D.targets) {
		const s = el("span", "", t.replace("gfx", ""));
		s.title = t;
		head.append(s);
	}
	for (const m in METRICS) {
		const o = el("option", "", METRICS[m]);
		o.value = m;
		$("#metric").append(o);
	}
	$("#metric").onchange = (e) => { metric = e.target.value; drawHeat(); };
}

/* ---- the table */
const COLUMNS = [
	{ key: "worst", title: "", width: "28px" },
	{ key: "name", title: "kernel", width: "minmax(220px, 3fr)", text: (i) => short[K.name[i]] },
	{ key: "target", title: "target", width: "minmax(90px, 1fr)", text: (i) => D.targets[K.target[i]] },
	{ key: "flags", title: "declares", width: "minmax(120px, 1.2fr)" },
	{ key: "vgprs", title: "VGPR", width: "64px", n: 1 },
	{ key: "sgprs", title: "SGPR", width: "64px", n: 1 },
	{ key: "spills", title: "spills", width: "68px", n: 1 },
	{ key: "scratch", title: "scratch", width: "78px", n: 1 },
	{ key: "lds", title: "LDS", width: "72px", n: 1 },
];
const grid = COLUMNS.map((c) => c.width).join(" ");
const FLAGS = [[1, "hostcall"], [2, "heap"], [4, "stack"], [8, "stack?"]];
let shown = [], sort = { key: "worst", down: true }, at = -1;
const table = list($("#table .view"), 28, (i) => {
	const k = shown[i], r = el("div", "row" + (i === at ? " at" : ""));
	r.style.gridTemplateColumns = grid;
	r.setAttribute("role", "row");
	for (const c of COLUMNS) {
		const e = el("span", c.n ? "n" : c.key === "name" ? "mono" : "");
		e.setAttribute("role", "cell");
		if (c.key === "worst") e.append(el("i", "dot w" + K.worst[k]));
		else if (c.key === "flags") {
			e.className = "flags";
			e.append(el("b", "", FLAGS.filter((f) => K.flags[k] & f[0]).map((f) => f[1]).join(" ") || "\u2013"));
		} else e.textContent = c.text ? c.text(k) : fmt(K[c.key][k]);
		if (c.key === "name") e.title = full(K.name[k]);
		r.append(e);
	}
	r.onclick = () => { at = i; table.draw(); detail(K.name[k]); };
	return r;
});
let rank = null;
function value(key) {
	if (key === "name") {
		if (!rank) {
			rank = new Int32Array(short.length);
			short.map((s, i) => [s, i]).sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0)
				.forEach((p, i) => { rank[p[1]] = i; });
		}
		return (i) => rank[K.name[i]];
	}
	return (i) => K[key][i];
}
function update() {
	const words = $("#search").value.toLowerCase().split(/\s+/).filter(Boolean);
	const target = $("#target").value, flagged = $("#flagged").checked, hit = new Map();
	const match = (i) => {
		let m = hit.get(K.name[i]);
		if (m === undefined) {
			const s = (full(K.name[i]) + " " + short[K.name[i]]).toLowerCase();
			hit.set(K.name[i], m = words.every((w) => s.includes(w)));
		}
		return m;
	};
	shown = [];
	for (let i = 0; i < N; i++)
		if ((target === "" || K.target[i] === +target) && (!flagged || K.flags[i] || K.worst[i]) && match(i))
			shown.push(i);
	const v = value(sort.key), sign = sort.down ? -1 : 1;
	shown.sort((a, b) => sign * (v(a) - v(b)) || a - b);
	at = -1;
	$("#count").textContent = fmt(shown.length) + " of " + fmt(N);
	$("#table .view").scrollTop = 0;
	table.set(shown.length);
	for (const b of document.querySelectorAll("#table .head button")) {
		if (b.dataset.key === sort.key) b.setAttribute("aria-sort", sort.down ? "descending" : "ascending");
		else b.removeAttribute("aria-sort");
	}
}
function tableHead() {
	const head = $("#table .head");
	head.style.gridTemplateColumns = grid;
	for (const c of COLUMNS) {
		const b = el("button", c.n ? "n" : "", c.title);
		b.dataset.key = c.key;
		if (!c.title) b.setAttribute("aria-label", "severity");
		b.onclick = () => {
			sort = { key: c.key, down: sort.key === c.key ? !sort.down : c.key !== "name" && c.key !== "target" };
			update();
		};
		head.append(b);
	}
	$("#target").append(el("option", "", "all targets"));
	$("#target").firstChild.value = "";
	D.targets.forEach((t, i) => {
		const o = el("option", "", t);
		o.value = i;
		$("#target").append(o);
	});
	let wait = 0;
	$("#search").oninput = () => { clearTimeout(wait); wait = setTimeout(update, 80); };
	$("#target").onchange = $("#flagged").onchange = update;
}

/* ---- one kernel */
function detail(n) {
	const d = $("dialog"), t = el("table"), tr = el("tr");
	d.replaceChildren(el("h3", "mono", full(n)));
	for (const f of D.findings.filter((g) => g.n === n)) {
		const p = el("p");
		p.append(el("span", "tag " + (f.m ? "maybe" : SEVERITY[f.s]), D.rules[f.r].id), " " + D.strings[f.t]);
		d.append(p);
		if (f.p >= 0) d.append(el("p", "mono soft", D.strings[f.p]));
	}
	for (const h of ["target", "file", "VGPR", "AGPR", "SGPR", "spills", "scratch", "LDS"]) tr.append(el("th", "", h));
	t.append(tr);
	for (let i = 0; i < N; i++) {
		if (K.name[i] !== n) continue;
		const r = el("tr");
		r.append(el("td", "", D.targets[K.target[i]]), el("td", "", D.files[K.file[i]].path.split("/").pop()));
		for (const key of ["vgprs", "agprs", "sgprs", "spills", "scratch", "lds"]) r.append(el("td", "", fmt(K[key][i])));
		t.append(r);
	}
	const close = el("button", "", "Close");
	close.onclick = () => d.close();
	d.append(t, el("p"), close);
	d.showModal();
}

/* ---- keyboard */
addEventListener("keydown", (e) => {
	const typing = /INPUT|SELECT|TEXTAREA/.test(e.target.tagName);
	if ($("dialog").open) return;
	if (e.key === "/" && !typing) { e.preventDefault(); $("#search").focus(); $("#search").select(); return; }
	if (e.key === "Escape" && e.target === $("#search")) { $("#search").value = ""; update(); $("#table .view").focus(); return; }
	const step = { ArrowDown: 1, ArrowUp: -1, PageDown: table.page(), PageUp: -table.page(), Home: -N, End: N }[e.key];
	const inTable = e.target === $("#table .view") || (e.target === $("#search") && /Arrow/.test(e.key));
	if (step && inTable && shown.length) {
		e.preventDefault();
		at = Math.min(shown.length - 1, Math.max(0, at + step));
		$("#table .view").focus();
		table.show(at);
	} else if (e.key === "Enter" && e.target === $("#table .view") && at >= 0) {
		e.preventDefault();
		detail(K.name[shown[at]]);
	}
});

cards();
findings();
heatHead();
drawHeat();
tableHead();
update();
root.dataset.ready = "1";
