/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - reads a plugin's tables word by word before anything is believed.
 *
 * Every check yields one sentence that names the op and the row.  What follows
 * (binding, planning, running) relies on all of it and checks none again.
 */
#include <string.h>

#include "plugin/param.h"
#include "plugin/table.h"
#include "plugin/verify.h"
#include "plugin/verify_param.h"

enum {
	OP_FLAGS = HOP_F_BLOCKS | HOP_F_PARALLEL | HOP_F_STATELESS | HOP_F_MAPS | HOP_F_LIVE |
		   HOP_F_FD | HOP_F_CLOSES,
	PORT_FLAGS = HOP_PORT_OPTIONAL | HOP_PORT_ANY | HOP_PORT_MANY | HOP_PORT_GAPS,
	INPUT_ONLY = HOP_PORT_ANY | HOP_PORT_GAPS,
	MEM_KINDS = HOP_MEM_HOST | HOP_MEM_PINNED | HOP_MEM_CUDA,
	MAX_ALIGN = 1 << 21,
	MAX_STATE = 1 << 30,
	MAX_BATCH = 1 << 20,
};

static bool
is_align(uint32_t n)
{
	return n <= MAX_ALIGN && (n & (n - 1)) == 0;
}

static const char *
dir_name(uint32_t dir)
{
	return dir == HOP_IN ? "input" : "output";
}

/* ---- ports ---- */

static const char *
check_port_numbers(struct hr_arena *a, const struct hop_port *p)
{
	const char *what = hr_printf(a, "%s '%s'", dir_name(p->dir), p->name);

	if (p->flags & ~(uint32_t)PORT_FLAGS)
		return hr_printf(a, "%s has unknown flag bits 0x%x", what,
				 p->flags & ~(uint32_t)PORT_FLAGS);
	if (p->dir == HOP_OUT && (p->flags & INPUT_ONLY))
		return hr_printf(a, "%s has a flag that only inputs can have", what);
	if (!p->mem || (p->mem & ~(uint32_t)MEM_KINDS))
		return hr_printf(a, "%s says 0x%x where kinds of memory are wanted", what, p->mem);
	if (p->min_batch > MAX_BATCH || p->max_batch > MAX_BATCH || p->keeps > MAX_BATCH)
		return hr_printf(a, "%s has a batch or keeps above %d", what, MAX_BATCH);
	if (p->max_batch && p->min_batch > p->max_batch)
		return hr_printf(a, "%s has min_batch %u above max_batch %u", what, p->min_batch,
				 p->max_batch);
	if (p->dir == HOP_OUT && p->keeps)
		return hr_printf(a, "%s keeps messages; only inputs can", what);
	if (!is_align(p->align))
		return hr_printf(a, "%s has the alignment %u, which is no power of two up to %d",
				 what, p->align, MAX_ALIGN);
	if (p->reserved)
		return hr_printf(a, "%s has a reserved field that is not 0", what);
	return NULL;
}

static const char *
check_port(struct hr_arena *a, const struct hop_op *op, uint32_t i)
{
	const struct hop_port *p = &op->ports.at[i];

	if (!hr_is_name(p->name))
		return hr_printf(a, "port number %u has the name '%s', which no graph can write", i,
				 p->name ? p->name : "");
	if (p->dir != HOP_IN && p->dir != HOP_OUT)
		return hr_printf(a, "port '%s' has the direction %u", p->name, p->dir);
	if (!p->doc || !*p->doc)
		return hr_printf(a, "%s '%s' has no doc", dir_name(p->dir), p->name);
	for (uint32_t k = 0; k < i; k++) {
		const struct hop_port *q = &op->ports.at[k];

		if (q->dir != p->dir)
			continue;
		if (!strcmp(q->name, p->name))
			return hr_printf(a, "two %ss are called '%s'", dir_name(p->dir), p->name);
		if (q->flags & HOP_PORT_MANY)
			return hr_printf(a,
					 "%s '%s' follows the port array '%s', which must be "
					 "the last",
					 dir_name(p->dir), p->name, q->name);
	}
	return check_port_numbers(a, p);
}

uint32_t
hr_op_n_ports(const struct hop_op *op, uint32_t dir)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < op->ports.count; i++)
		n += op->ports.at[i].dir == dir;
	return n;
}

/* ---- axes, dependences, counters ---- */

static const char *
check_axis(struct hr_arena *a, const struct hop_op *op, uint32_t i)
{
	const struct hop_axis *x = &op->axes.at[i];
	uint32_t n_in = hr_op_n_ports(op, HOP_IN), n_out = hr_op_n_ports(op, HOP_OUT);

	if (!hr_is_name(x->name))
		return hr_printf(a, "axis number %u has the name '%s', which no graph can write", i,
				 x->name ? x->name : "");
	if (!x->doc || !*x->doc)
		return hr_printf(a, "axis '%s' has no doc", x->name);
	for (uint32_t k = 0; k < i; k++)
		if (!strcmp(op->axes.at[k].name, x->name))
			return hr_printf(a, "two axes are called '%s'", x->name);
	if (x->in_port && x->in_port >= n_in)
		return hr_printf(a, "axis '%s' runs along input %u; there are %u", x->name,
				 x->in_port, n_in);
	if (x->out_port && x->out_port >= n_out)
		return hr_printf(a, "axis '%s' runs along output %u; there are %u", x->name,
				 x->out_port, n_out);
	if (x->in_dim >= HOP_MAX_RANK || x->out_dim >= HOP_MAX_RANK)
		return hr_printf(a, "axis '%s' runs along a dimension above %d", x->name,
				 HOP_MAX_RANK - 1);
	if (x->reserved)
		return hr_printf(a, "axis '%s' has a reserved field that is not 0", x->name);
	return NULL;
}

static const char *
check_afters(struct hr_arena *a, const struct hop_op *op)
{
	for (uint32_t i = 0; i < op->afters.count; i++) {
		const int32_t *d = op->afters.at[i].d;
		bool zero = true;

		for (uint32_t k = 0; k < HOP_MAX_AXES; k++) {
			if (d[k] && k >= op->axes.count)
				return hr_printf(a,
						 "dependence number %u uses axis %u; there are "
						 "%u",
						 i, k, op->axes.count);
			zero = zero && !d[k];
		}
		if (zero)
			return hr_printf(a, "dependence number %u makes a point wait for itself",
					 i);
	}
	return NULL;
}

static const char *
check_counters(struct hr_arena *a, const struct hop_op *op)
{
	for (uint32_t i = 0; i < op->counters.count; i++) {
		const struct hop_counter *c = &op->counters.at[i];

		if (!hr_is_name(c->name))
			return hr_printf(a, "counter number %u has the name '%s'", i,
					 c->name ? c->name : "");
		if (!c->doc || !*c->doc)
			return hr_printf(a, "counter '%s' has no doc", c->name);
		if (c->level > HOP_LOG_DEBUG)
			return hr_printf(a, "counter '%s' has the unknown level %u", c->name,
					 c->level);
		if (c->flags & ~(uint32_t)HOP_COUNTER_LOSS)
			return hr_printf(a, "counter '%s' has unknown flag bits 0x%x", c->name,
					 c->flags & ~(uint32_t)HOP_COUNTER_LOSS);
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(op->counters.at[k].name, c->name))
				return hr_printf(a, "two counters are called '%s'", c->name);
	}
	return NULL;
}

/* ---- an op ---- */

/* "family/name", where each part could be a node's name. */
static bool
is_op_name(struct hr_arena *a, const char *s)
{
	const char *slash = strchr(s, '/');

	return slash && hr_is_name(hr_strndup(a, s, (size_t)(slash - s))) && hr_is_name(slash + 1);
}

static const char *
check_op_numbers(struct hr_arena *a, const struct hop_op *op)
{
	if (op->flags & ~(uint32_t)OP_FLAGS)
		return hr_printf(a, "unknown flag bits 0x%x", op->flags & ~(uint32_t)OP_FLAGS);
	if (op->device != HOP_ON_CPU && op->device != HOP_ON_CUDA)
		return hr_printf(a, "unknown device %u", op->device);
	if (op->state_size > MAX_STATE)
		return hr_printf(a, "state_size is %u; the limit is %d", op->state_size, MAX_STATE);
	if (!is_align(op->state_align))
		return hr_printf(a, "state_align is %u, which is no power of two up to %d",
				 op->state_align, MAX_ALIGN);
	if (!op->process)
		return "it has no process()";
	if (op->axes.count > HOP_MAX_AXES)
		return hr_printf(a, "it has %u axes; the limit is %d", op->axes.count,
				 HOP_MAX_AXES);
	if ((op->flags & HOP_F_CLOSES) && !op->axes.count)
		return "HOP_F_CLOSES without axes";
	if ((op->flags & HOP_F_MAPS) && (!hr_op_n_ports(op, HOP_IN) || !hr_op_n_ports(op, HOP_OUT)))
		return "HOP_F_MAPS without an input and an output";
	return NULL;
}

static const char *
check_op(struct hr_arena *a, const struct hop_op *op)
{
	const char *why;

	if (!is_op_name(a, op->name))
		return "its name must be 'family/name', of letters, digits, '_' and '-'";
	if (!op->doc || !*op->doc)
		return "it has no doc";
	why = check_op_numbers(a, op);
	for (uint32_t i = 0; i < op->ports.count && !why; i++)
		why = check_port(a, op, i);
	if (!why)
		why = hr_verify_params(a, op);
	if (!why)
		why = check_counters(a, op);
	for (uint32_t i = 0; i < op->axes.count && !why; i++)
		why = check_axis(a, op, i);
	return why ? why : check_afters(a, op);
}

const char *
hr_plugin_check_abi(struct hr_arena *a, const struct hop_plugin *p)
{
	if (p->size < offsetof(struct hop_plugin, query))
		return hr_printf(a, "hop_plugin_v1 says its size is %u; at least %zu is needed",
				 p->size, sizeof *p);
	if (p->abi_major != HOP_ABI_MAJOR)
		return hr_printf(a, "it was built for operator ABI %u.%u; this holorun has %d.%d",
				 p->abi_major, p->abi_minor, HOP_ABI_MAJOR, HOP_ABI_MINOR);
	if (p->abi_draft != HOP_ABI_DRAFT)
		return hr_printf(a,
				 "it was built for draft %u of operator ABI %u.%u; this holorun "
				 "has draft %d",
				 p->abi_draft, p->abi_major, p->abi_minor, HOP_ABI_DRAFT);
	return NULL;
}

const char *
hr_plugin_check(struct hr_arena *a, const struct hop_plugin *p, const struct hop_plugin **copy)
{
	const char *why = hr_table_outline(a, p);
	const struct hop_plugin *c;

	if (why)
		return why;
	c = hr_table_copy(a, p);
	*copy = c;
	if (!c->name || !*c->name)
		return "the plugin has no name";
	if (!c->version || !*c->version)
		return "the plugin has no version";
	if (!c->license || !*c->license)
		return "the plugin names no license";
	for (uint32_t i = 0; i < c->n_ops; i++) {
		why = check_op(a, c->ops[i]);
		if (why)
			return hr_printf(a, "op '%s': %s", c->ops[i]->name, why);
		for (uint32_t k = 0; k < i; k++)
			if (c->ops[k]->device == c->ops[i]->device &&
			    !strcmp(c->ops[k]->name, c->ops[i]->name))
				return hr_printf(a, "op '%s' is there twice for one device",
						 c->ops[i]->name);
	}
	return NULL;
}

const char *
hr_plugin_verify(struct hr_arena *a, const struct hop_plugin *p)
{
	const struct hop_plugin *copy;
	const char *why = hr_plugin_check_abi(a, p);

	return why ? why : hr_plugin_check(a, p, &copy);
}
